// Buffer A or B of the second machine: lines of a tensor, written by the DMA, read by the address generator
// (ARITHMETIC.md 7, "What stays"). It never holds more than fits, and gives nothing that it does not hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/machine/block_lines.hpp"

namespace mantissa {

// Keeps a reference.
class LineBuffer {
 public:
  LineBuffer(const BlockLines& lines, std::int64_t bytes)
      : lines_(lines), bytes_(bytes), held_(lines.count()) {}

  // A transfer of these lines is issued: their room is taken. Throws std::logic_error where there is none.
  void reserve(std::span<const std::int64_t> lines);
  // It has ended: the lines' elements, packed without gaps.
  void store(std::span<const std::int64_t> lines, std::span<const std::uint8_t> packed);
  // Drops what is not among these.
  void keep(std::span<const std::int64_t> lines);

  bool holds(std::int64_t line) const { return held_[line].state == State::here; }
  // Throws std::logic_error for a line that is not there.
  const std::uint16_t* line(std::int64_t line) const {
    if (!holds(line)) missing(line);
    return held_[line].elements.data();
  }

 private:
  enum class State : std::uint8_t { absent, coming, here };
  struct Held {
    State state = State::absent;
    bool wanted = false;  // while keep() looks
    std::vector<std::uint16_t> elements = {};
  };
  [[noreturn]] static void missing(std::int64_t line);
  void check_room() const;

  const BlockLines& lines_;
  std::int64_t bytes_;
  std::vector<Held> held_;
  std::vector<std::int64_t> present_;  // lines that take room
  std::int64_t elements_ = 0;          // of them
};

}  // namespace mantissa

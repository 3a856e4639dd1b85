// Lines in large chunks, as text goes out (sim/support/output.hpp): what lets `mantissa calc` handle millions
// of lines a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/output.hpp"

namespace mantissa::cli {

class LineReader {
 public:
  // `answers` is flushed before every wait for more input, so that a program that sends one line and waits
  // for its answer gets it.
  LineReader(int descriptor, Output& answers);

  // The next line without its end (\n or \r\n), valid until the next call; nothing at the end of the input.
  // Throws std::invalid_argument for a line above the longest that any command could need, \r included; the
  // answers so far have been flushed by then.
  std::optional<std::string_view> next();
  // Of the last line returned, from 1.
  std::uint64_t line_number() const { return line_number_; }

 private:
  static constexpr std::size_t longest_line = 1U << 16;
  void check_length(std::size_t bytes);
  bool fill();

  int descriptor_;
  Output& answers_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes are [begin_, end_)
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace mantissa::cli

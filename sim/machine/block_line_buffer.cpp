#include "sim/machine/block_line_buffer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/format/packed.hpp"

namespace mantissa {

void LineBuffer::missing(std::int64_t line) {
  throw std::logic_error("line " + std::to_string(line) + " is used and not in its buffer");
}

void LineBuffer::check_room() const {
  if (packed_bytes(elements_, lines_.bits()) > bytes_) {
    throw std::logic_error("lines of " + std::to_string(packed_bytes(elements_, lines_.bits())) +
                           " bytes in a buffer of " + std::to_string(bytes_));
  }
}

void LineBuffer::reserve(std::span<const std::int64_t> lines) {
  for (const std::int64_t line : lines) {
    if (held_[line].state != State::absent) throw std::logic_error("a line is loaded that is there");
    held_[line].state = State::coming;
    present_.push_back(line);
    elements_ += lines_.elements(line);
  }
  check_room();
}

void LineBuffer::store(std::span<const std::int64_t> lines, std::span<const std::uint8_t> packed) {
  std::int64_t at = 0;
  for (const std::int64_t line : lines) {
    Held& held = held_[line];
    if (held.state != State::coming) throw std::logic_error("a line comes that nobody waits for");
    held.state = State::here;
    held.elements.resize(lines_.elements(line));
    for (std::uint16_t& element : held.elements)
      element = static_cast<std::uint16_t>(packed_element(packed, at++, lines_.bits()));
  }
}

void LineBuffer::keep(std::span<const std::int64_t> lines) {
  for (const std::int64_t line : lines) held_[line].wanted = true;
  std::erase_if(present_, [this](std::int64_t line) {
    Held& held = held_[line];
    if (held.wanted) return false;
    if (held.state == State::coming) throw std::logic_error("a line comes that is not kept");
    held.state = State::absent;
    held.elements = {};
    elements_ -= lines_.elements(line);
    return true;
  });
  for (const std::int64_t line : lines) held_[line].wanted = false;
  check_room();
}

}  // namespace mantissa

// One operand of a beat on its way to the array's port: elements side by side, up to 8 bits wide, or 16. An
// element of 16 bits is two fields of 8, low one first, as whole bytes are copied quickly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/dut/bits.hpp"

namespace mantissa {

class BeatOperand {
 public:
  BeatOperand(int port_width, int element_bits)
      : field_bits_(std::min(element_bits, 8)),
        wide_(element_bits > 8),
        fields_(port_width / field_bits_),
        bits_(port_width) {}

  void clear() { std::fill(fields_.begin(), fields_.end(), 0); }
  void set(std::int64_t index, std::uint32_t element) {
    if (!wide_) {
      fields_[index] = static_cast<std::uint8_t>(element);
      return;
    }
    fields_[2 * index] = static_cast<std::uint8_t>(element);
    fields_[2 * index + 1] = static_cast<std::uint8_t>(element >> 8);
  }
  const Bits& bits() {
    bits_.set_fields(0, field_bits_, fields_);
    return bits_;
  }

 private:
  int field_bits_;
  bool wide_;
  std::vector<std::uint8_t> fields_;
  Bits bits_;
};

}  // namespace mantissa

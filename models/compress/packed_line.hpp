// A line of codes as a bit mask and its non-zero codes (ARITHMETIC.md 13).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa {

// All that packing knows of a code.
struct LineCode {
  int bits = 8;               // 2..8
  bool negative_zero = true;  // 10..0 is -0

  // Throws std::invalid_argument for a format of more than 8 bits.
  static LineCode of(const Format& format);
  // An integer operand, whose zero is 0.
  static LineCode integer(int bits) { return {bits, false}; }

  constexpr bool is_zero(std::uint8_t code) const {
    return code == 0 || (negative_zero && code == 1U << (bits - 1));
  }
};

// Bytes of a line of n codes, m of them non-zero.
std::size_t packed_line_bytes(std::size_t n, std::size_t m, int bits);

// Throws std::invalid_argument for a code of more than code.bits bits.
std::vector<std::uint8_t> pack_line(std::span<const std::uint8_t> codes, const LineCode& code);
// A zero comes back as +0. Throws std::invalid_argument for anything that pack_line does not give for n
// codes.
std::vector<std::uint8_t> unpack_line(std::span<const std::uint8_t> line, std::size_t n,
                                      const LineCode& code);

}  // namespace mantissa

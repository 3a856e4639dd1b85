// IEEE exception flags as a small value (ARITHMETIC.md 2, "Flags").
#pragma once

#include <cstdint>
#include <string>

namespace mantissa {

struct Flags {
  bool invalid = false;
  bool divide_by_zero = false;
  bool overflow = false;
  bool underflow = false;
  bool inexact = false;

  constexpr Flags& operator|=(const Flags& other) {
    invalid |= other.invalid;
    divide_by_zero |= other.divide_by_zero;
    overflow |= other.overflow;
    underflow |= other.underflow;
    inexact |= other.inexact;
    return *this;
  }
  friend constexpr bool operator==(const Flags&, const Flags&) = default;

  // Bits in the order v z o u x, invalid highest: the encoding of vectors and of the C API.
  constexpr std::uint32_t bits() const {
    return (invalid ? 16U : 0U) | (divide_by_zero ? 8U : 0U) | (overflow ? 4U : 0U) | (underflow ? 2U : 0U) |
           (inexact ? 1U : 0U);
  }

  // One letter per raised flag, "-" for none.
  std::string letters() const {
    std::string text;
    if (invalid) text += 'v';
    if (divide_by_zero) text += 'z';
    if (overflow) text += 'o';
    if (underflow) text += 'u';
    if (inexact) text += 'x';
    return text.empty() ? "-" : text;
  }
};

}  // namespace mantissa

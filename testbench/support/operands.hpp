// Operands worth trying: corner codes of a format, and random codes whose exponents are near a wanted one, so
// that the operands of an addition meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa::test {

using Random = std::mt19937_64;

// Zeros, both ends of the subnormals, of every power of two and of the finite numbers, Inf, every kind of
// NaN; both signs.
inline std::vector<std::uint32_t> corner_codes(const Format& format) {
  const std::uint32_t one = 1U << format.mantissa_bits;
  std::vector<std::uint32_t> magnitudes = {0, 1, 2, 3, one / 2, one - 1};
  for (std::uint32_t field = 1; field < 1U << format.exponent_bits; ++field) {
    for (const std::uint32_t mantissa : {0U, 1U, one / 2, one - 1})
      magnitudes.push_back(field * one + mantissa);
  }
  std::vector<std::uint32_t> codes;
  for (const std::uint32_t magnitude : magnitudes) {
    codes.push_back(magnitude & format.magnitude_mask());
    codes.push_back((magnitude & format.magnitude_mask()) | format.sign_bit());
  }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

// Mantissas with long runs of zeros and ones half of the time: ties and carries live there.
inline std::uint32_t random_mantissa(const Format& format, Random& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t choice = bits >> 30;
  std::uint32_t mantissa = bits;
  if (choice == 0) mantissa = 1U << (bits % 24);
  if (choice == 1) mantissa = ~0U << (bits % 24);
  return mantissa & format.mantissa_mask();
}

inline std::uint32_t code_of(const Format& format, int field, Random& random) {
  const std::uint32_t sign = (random() & 1) != 0 ? format.sign_bit() : 0U;
  return sign | (static_cast<std::uint32_t>(field) << format.mantissa_bits) | random_mantissa(format, random);
}

// A code whose exponent lies within `spread` of `exponent`, clamped into the format.
inline std::uint32_t code_near(const Format& format, int exponent, int spread, Random& random) {
  const int offset = static_cast<int>(random() % static_cast<std::uint64_t>(2 * spread + 1)) - spread;
  const int top = (1 << format.exponent_bits) - 1;
  return code_of(format, std::clamp(exponent + offset + format.bias, 0, top), random);
}

// Exponents uniform over the whole format.
inline std::uint32_t random_code(const Format& format, Random& random) {
  return code_of(format, static_cast<int>(random() >> (64 - format.exponent_bits)), random);
}

}  // namespace mantissa::test

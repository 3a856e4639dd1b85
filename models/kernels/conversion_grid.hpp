// A conversion from FP32 to a narrow format as the integers that a vector needs (ARITHMETIC.md 2, 5).
#pragma once

#include <cstdint>

#include "models/format/convert.hpp"

namespace mantissa::kernels {

// A conversion from FP32 reduced to integers. Scaling by 2^s and rounding to a format of bias b gives the
// code that rounding to bias b + s gives, so the scale disappears into the bias.
struct ConversionGrid {
  int mantissa_bits;
  int field;             // FP32 exponent field of the smallest normal
  int sign_shift;        // from FP32's sign bit to the code's
  std::uint32_t sign;    // the code's sign bit
  std::uint32_t max;     // code of the largest finite magnitude
  std::uint32_t beyond;  // code of what overflow makes
  std::uint32_t inf;     // code of what Inf becomes
  std::uint32_t nan;     // whole code of what NaN becomes
  bool unsigned_beyond;  // overflow, or Inf, gives NaN, which has no sign
  bool unsigned_zero;    // fnuz: no negative zero
  bool inf_is_overflow;  // Inf becomes NaN or max, which is counted
  bool nan_is_invalid;   // the format has no NaN
};

inline ConversionGrid grid_of(const Conversion& how) {
  const Format& to = how.to;
  const bool saturate = how.overflow == Overflow::saturate || !to.has_nan();
  ConversionGrid grid{};
  grid.mantissa_bits = to.mantissa_bits;
  grid.field = 128 - (to.bias + how.scale);
  grid.sign_shift = 32 - to.bits();
  grid.sign = to.sign_bit();
  grid.max = to.max_code();
  grid.inf = saturate ? to.max_code() : (to.has_inf() ? to.inf_code() : to.nan_code());
  grid.beyond = traits_of(how.rounding.mode).stops_at_max ? to.max_code() : grid.inf;
  grid.nan = to.has_nan() ? to.nan_code() : to.max_code();
  grid.unsigned_beyond = !saturate && !to.has_inf();
  grid.unsigned_zero = !to.has_negative_zero();
  grid.inf_is_overflow = saturate || !to.has_inf();
  grid.nan_is_invalid = !to.has_nan();
  return grid;
}

// What overflow, Inf and NaN become: codes, or FP32 patterns.
struct EndPatterns {
  std::uint32_t beyond;
  std::uint32_t inf;
  std::uint32_t nan;
};

// The values of their codes.
inline EndPatterns end_values(const ConversionGrid& grid, const Conversion& how) {
  const auto value = [&](std::uint32_t code) {
    return convert(code, {.from = how.to, .scale = -how.scale}).code;
  };
  return {value(grid.beyond), value(grid.inf), value(grid.nan)};
}

// The vector form wants the target's smallest normal to be a normal FP32 number (and for counts the one below
// it too), and room for the random bits.
inline bool has_vector_form(const Conversion& how, bool counting) {
  const int smallest = how.to.min_exponent() - how.scale;
  const int lowest = counting ? -125 : -126;
  return !how.via_fp16 && how.flush == Flush{} && how.to.mantissa_bits <= 22 && smallest >= lowest &&
         smallest <= 100 && how.to.mantissa_bits + how.rounding.random_bits <= 23;
}

// Decoded values come from their codes by shifts: the largest must be an FP32 number too.
inline bool has_vector_values(const Conversion& how, bool counting) {
  return has_vector_form(how, counting) && how.to.max_exponent() - how.scale <= 127;
}

}  // namespace mantissa::kernels

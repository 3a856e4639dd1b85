// The named formats as types: Float<formats::e5m2> is one code, with the arithmetic of its format.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "models/format/convert.hpp"

namespace mantissa {

template <Format F>
class Float {
 public:
  using Code = std::conditional_t<(F.bits() <= 8), std::uint8_t,
                                  std::conditional_t<(F.bits() <= 16), std::uint16_t, std::uint32_t>>;
  static constexpr Format format = F;

  constexpr Float() = default;
  static constexpr Float from_code(std::uint32_t code) {
    return Float(static_cast<Code>(code & F.code_mask()));
  }
  static constexpr Float from_float(float value, Rounding rounding = Rounding::rne(),
                                    Overflow overflow = Overflow::ieee, std::uint32_t draw = 0) {
    const Conversion how{.from = formats::fp32, .to = F, .rounding = rounding, .overflow = overflow};
    return from_code(convert(fp32_bits(value), how, draw).code);
  }

  constexpr Code code() const { return code_; }
  // Exact: every value of a named format is an FP32 value.
  constexpr float to_float() const {
    return fp32_value(convert(code_, {.from = F, .to = formats::fp32}).code);
  }
  friend constexpr bool operator==(const Float&, const Float&) = default;  // of codes, not of values

 private:
  constexpr explicit Float(Code code) : code_(code) {}
  Code code_ = 0;
};

using E5m2 = Float<formats::e5m2>;
using E4m3 = Float<formats::e4m3>;
using E3m2 = Float<formats::e3m2>;
using E2m3 = Float<formats::e2m3>;
using E2m1 = Float<formats::e2m1>;
using Fp16 = Float<formats::fp16>;
using Bf16 = Float<formats::bf16>;

}  // namespace mantissa

template <mantissa::Format F>
class std::numeric_limits<mantissa::Float<F>> {
 public:
  using T = mantissa::Float<F>;
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool has_infinity = F.has_inf();
  static constexpr bool has_quiet_NaN = F.has_nan();
  static constexpr int digits = F.precision();
  static constexpr int radix = 2;
  static constexpr int min_exponent = F.min_exponent() + 1;  // the standard counts from 0.5
  static constexpr int max_exponent = F.max_exponent() + 1;
  static constexpr T min() { return T::from_code(1U << F.mantissa_bits); }
  static constexpr T max() { return T::from_code(F.max_code()); }
  static constexpr T lowest() { return T::from_code(F.max_code() | F.sign_bit()); }
  static constexpr T denorm_min() { return T::from_code(1); }
  static constexpr T infinity() requires(F.has_inf()) { return T::from_code(F.inf_code()); }
  static constexpr T quiet_NaN() requires(F.has_nan()) { return T::from_code(F.nan_code()); }
};

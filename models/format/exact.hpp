// Exact values between decode and round: the arithmetic of every unit is decode -> exact operation -> one
// round.
//
// A finite value is (-1)^negative * significand * 2^(exponent - 63) with bit 63 of the significand set, so
// `exponent` is the exponent of the leading one. Where a sum or quotient has more bits than 64, bit 0 is
// "jammed": it is one iff anything non-zero was shifted out. That loses nothing that a rounding to at most
// 24 bits with at most 32 random bits can see (it looks at the top 56 bits, and at whether the rest is zero).
#pragma once

#include <bit>
#include <cstdint>

#include "models/format/flags.hpp"
#include "models/format/format.hpp"

namespace mantissa {

struct Exact {
  enum class Kind : std::uint8_t { zero, finite, inf, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;

  constexpr bool is_zero() const { return kind == Kind::zero; }
  constexpr bool is_finite() const { return kind == Kind::finite; }
  constexpr bool is_inf() const { return kind == Kind::inf; }
  constexpr bool is_nan() const { return kind == Kind::nan; }
  friend constexpr bool operator==(const Exact&, const Exact&) = default;

  static constexpr Exact zero(bool negative) { return {Kind::zero, negative, 0, 0}; }
  static constexpr Exact inf(bool negative) { return {Kind::inf, negative, 0, 0}; }
  static constexpr Exact nan() { return {Kind::nan, false, 0, 0}; }
  // (-1)^negative * magnitude * 2^scale.
  static constexpr Exact integer(bool negative, std::uint64_t magnitude, int scale) {
    if (magnitude == 0) return zero(negative);
    const int lead = std::countl_zero(magnitude);
    return {Kind::finite, negative, 63 - lead + scale, magnitude << lead};
  }
  static Exact from_double(double value);

  // This value times 2^shift.
  constexpr Exact scaled(int shift) const {
    Exact result = *this;
    if (is_finite()) result.exponent += shift;
    return result;
  }
  constexpr Exact negated() const {
    Exact result = *this;
    result.negative = !negative;
    return result;
  }
};

// The value of a code. A signalling NaN raises invalid in `flags`.
constexpr Exact decode(std::uint32_t code, const Format& format, Flags& flags) {
  if (format.is_nan(code)) {
    flags.invalid |= format.is_signalling(code);
    return Exact::nan();
  }
  const bool negative = format.is_negative(code);
  if (format.is_inf(code)) return Exact::inf(negative);
  const std::uint32_t magnitude = code & format.magnitude_mask();
  const std::uint32_t field = magnitude >> format.mantissa_bits;
  const std::uint32_t mantissa = magnitude & format.mantissa_mask();
  if (field == 0) return Exact::integer(negative, mantissa, format.min_quantum());
  const std::uint32_t hidden = 1U << format.mantissa_bits;
  return Exact::integer(negative, hidden | mantissa, format.min_quantum() + static_cast<int>(field) - 1);
}

// Decode that must not look at flags (constants, reports).
constexpr Exact decode(std::uint32_t code, const Format& format) {
  Flags ignored;
  return decode(code, format, ignored);
}

// The value as a double; exact for every format this project has.
double to_double(std::uint32_t code, const Format& format);

// Exact for significands of up to 32 bits each, which is every decoded code.
Exact multiply(const Exact& a, const Exact& b, Flags& flags);
Exact add(const Exact& a, const Exact& b, Flags& flags);
Exact divide(const Exact& a, const Exact& b, Flags& flags);

// An adder of `frame` bits (guard, round and sticky included) in two halves, as a pipeline has them.
//
// First half: the larger magnitude stands at the top, the smaller is shifted right by the exponent difference
// and jammed into bit 0. Exact for any rounding that keeps at most frame - 3 bits, provided both operands
// have at most frame - 1 bits.
struct Alignment {
  bool negative = false;  // of the larger
  int exponent = 0;       // of the larger
  int shift = 0;          // the exponent difference
  bool subtract = false;
  std::uint64_t larger = 0;   // left-justified in the frame; the first operand where magnitudes are equal
  std::uint64_t aligned = 0;  // the other one, shifted, jammed
  friend constexpr bool operator==(const Alignment&, const Alignment&) = default;
};
Alignment align(const Exact& a, const Exact& b, int frame);  // both finite

// Second half: frame + 1 bits.
constexpr std::uint64_t frame_sum(const Alignment& in) {
  return in.subtract ? in.larger - in.aligned : in.larger + in.aligned;
}
// The sum as a value; x + (-x) = +0.
constexpr Exact normalise(const Alignment& in, std::uint64_t sum, int frame) {
  if (sum == 0) return Exact::zero(false);
  return Exact::integer(in.negative, sum, in.exponent - (frame - 1));
}

}  // namespace mantissa

#include "models/format/exact.hpp"

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

// 24 + 32 bits that a rounding may keep, or a 48-bit product, plus guard, round and sticky: 62 leaves room
// for a carry.
constexpr int widest_frame = 62;

std::uint64_t shift_right_jam(std::uint64_t value, int shift) {
  if (shift == 0) return value;
  if (shift >= 64) return value != 0 ? 1 : 0;
  const bool lost = (value << (64 - shift)) != 0;
  return (value >> shift) | (lost ? 1U : 0U);
}

bool magnitude_less(const Exact& a, const Exact& b) {
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.significand < b.significand;
}

}  // namespace

Exact Exact::from_double(double value) {
  if (std::isnan(value)) return nan();
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return inf(negative);
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  return integer(negative, static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53);
}

double to_double(std::uint32_t code, const Format& format) {
  const Exact value = decode(code, format);
  switch (value.kind) {
    case Exact::Kind::nan:
      return std::numeric_limits<double>::quiet_NaN();
    case Exact::Kind::inf:
      return std::copysign(std::numeric_limits<double>::infinity(), value.negative ? -1.0 : 1.0);
    case Exact::Kind::zero:
      return value.negative ? -0.0 : 0.0;
    case Exact::Kind::finite:
      break;
  }
  const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent - 63);
  return value.negative ? -magnitude : magnitude;
}

Exact multiply(const Exact& a, const Exact& b, Flags& flags) {
  // 0 * Inf is invalid even where another operand of the whole operation is NaN.
  if ((a.is_zero() && b.is_inf()) || (a.is_inf() && b.is_zero())) {
    flags.invalid = true;
    return Exact::nan();
  }
  if (a.is_nan() || b.is_nan()) return Exact::nan();
  const bool negative = a.negative != b.negative;
  if (a.is_inf() || b.is_inf()) return Exact::inf(negative);
  if (a.is_zero() || b.is_zero()) return Exact::zero(negative);
  return Exact::integer(negative, (a.significand >> 32) * (b.significand >> 32),
                        a.exponent + b.exponent - 62);
}

Alignment align(const Exact& a, const Exact& b, int frame) {
  const bool swap = magnitude_less(a, b);
  const Exact& larger = swap ? b : a;
  const Exact& smaller = swap ? a : b;
  const int shift = larger.exponent - smaller.exponent;
  return {larger.negative,
          larger.exponent,
          shift,
          larger.negative != smaller.negative,
          larger.significand >> (64 - frame),
          shift_right_jam(smaller.significand >> (64 - frame), shift)};
}

Exact add(const Exact& a, const Exact& b, Flags& flags) {
  if (a.is_nan() || b.is_nan()) return Exact::nan();
  if (a.is_inf() || b.is_inf()) {
    if (a.is_inf() && b.is_inf() && a.negative != b.negative) {
      flags.invalid = true;
      return Exact::nan();
    }
    return a.is_inf() ? a : b;
  }
  if (a.is_zero() && b.is_zero()) return Exact::zero(a.negative && b.negative);
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const Alignment aligned = align(a, b, widest_frame);
  return normalise(aligned, frame_sum(aligned), widest_frame);
}

Exact divide(const Exact& a, const Exact& b, Flags& flags) {
  if (a.is_nan() || b.is_nan()) return Exact::nan();
  if ((a.is_zero() && b.is_zero()) || (a.is_inf() && b.is_inf())) {
    flags.invalid = true;
    return Exact::nan();
  }
  const bool negative = a.negative != b.negative;
  if (a.is_inf()) return Exact::inf(negative);
  if (b.is_zero()) {
    flags.divide_by_zero = true;
    return Exact::inf(negative);
  }
  if (a.is_zero() || b.is_inf()) return Exact::zero(negative);
  // A 62- or 63-bit quotient of the two left-justified significands; the remainder is the sticky bit.
  const auto dividend = static_cast<unsigned __int128>(a.significand) << 62;
  const auto quotient = static_cast<std::uint64_t>(dividend / b.significand);
  const bool remainder = dividend % b.significand != 0;
  return Exact::integer(negative, quotient | (remainder ? 1U : 0U), a.exponent - b.exponent - 62);
}

}  // namespace mantissa

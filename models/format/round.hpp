// Rounding an exact value to a format: the one place where bits are lost.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/format/exact.hpp"
#include "models/format/flags.hpp"
#include "models/format/format.hpp"
#include "models/format/rounding.hpp"

namespace mantissa {

struct Rounded {
  std::uint32_t code = 0;
  Flags flags;
  friend constexpr bool operator==(const Rounded&, const Rounded&) = default;
};

// |value| as a whole number of quanta of 2^quantum.
struct Multiple {
  std::uint64_t count = 0;
  bool inexact = false;
};

// Finite values only. `draw` supplies R in its low rounding.random_bits bits.
constexpr Multiple round_to_multiple(const Exact& value, int quantum, Rounding rounding, std::uint32_t draw) {
  const int drop = 63 - (value.exponent - quantum);  // bits of the significand below one quantum
  const std::uint64_t sig = value.significand;
  if (drop <= 0) return {drop == 0 ? sig : ~std::uint64_t{0}, false};  // 2^64 quanta and more: saturated
  const std::uint64_t whole = drop > 63 ? 0 : sig >> drop;
  const std::uint64_t fraction = drop > 63 ? sig : sig & ((std::uint64_t{1} << drop) - 1);
  if (fraction == 0) return {whole, false};
  bool up = false;
  if (rounding.mode == Rounding::Mode::rne) {
    // drop == 64: the half is bit 63, which is set; drop > 64: below half.
    if (drop <= 64) {
      const std::uint64_t half = std::uint64_t{1} << (drop - 1);
      up = fraction > half || (fraction == half && (whole & 1) != 0);
    }
  } else if (rounding.mode == Rounding::Mode::sr) {
    // F = floor(f * 2^r): the top r bits of the fraction. Up iff F + R carries out of r bits.
    const int r = rounding.random_bits;
    const int below = drop - r;
    const std::uint64_t f = below >= 64 ? 0 : (below >= 0 ? fraction >> below : fraction << -below);
    up = ((f + (draw & rounding.random_mask())) >> r) != 0;
  }
  return {whole + (up ? 1 : 0), true};
}

namespace detail {

constexpr std::uint32_t signed_code(std::uint32_t magnitude, bool negative, const Format& format) {
  if (magnitude == 0 && !format.has_negative_zero()) return 0;
  return magnitude | (negative ? format.sign_bit() : 0U);
}

// What an infinite result becomes: Inf, NaN where there is no Inf, signed max where there is neither.
constexpr Rounded infinite(bool negative, const Format& format, Overflow overflow) {
  if (overflow == Overflow::saturate || !format.has_nan()) {
    return {signed_code(format.max_code(), negative, format), {.overflow = true, .inexact = true}};
  }
  if (format.has_inf()) return {signed_code(format.inf_code(), negative, format), {}};
  return {format.nan_code(), {.overflow = true, .inexact = true}};
}

}  // namespace detail

constexpr Rounded round(const Exact& value, const Format& format, Rounding rounding, std::uint32_t draw,
                        Overflow overflow, Flush flush = {}) {
  switch (value.kind) {
    case Exact::Kind::nan:
      // A format without NaN gives +max and says so.
      if (!format.has_nan()) return {format.max_code(), {.invalid = true}};
      return {format.nan_code(), {}};
    case Exact::Kind::inf:
      return detail::infinite(value.negative, format, overflow);
    case Exact::Kind::zero:
      return {detail::signed_code(0, value.negative, format), {}};
    case Exact::Kind::finite:
      break;
  }

  const int exponent = std::max(value.exponent, format.min_exponent());
  const int quantum = exponent - format.mantissa_bits;
  const Multiple rounded = round_to_multiple(value, quantum, rounding, draw);
  // A subnormal's count is its code; a normal's count includes the hidden one, which the exponent field
  // absorbs. The field may grow past the format's width here: that is overflow, seen as a code above max.
  const std::uint64_t code =
      rounded.count + (static_cast<std::uint64_t>(exponent - format.min_exponent()) << format.mantissa_bits);

  Flags flags;
  flags.inexact = rounded.inexact;
  if (code > format.max_code()) {
    flags.overflow = flags.inexact = true;
    if (overflow == Overflow::ieee && rounding.mode != Rounding::Mode::rtz) {
      Rounded result = detail::infinite(value.negative, format, overflow);
      result.flags |= flags;
      return result;
    }
    return {detail::signed_code(format.max_code(), value.negative, format), flags};
  }
  if (rounded.inexact && value.exponent < format.min_exponent()) {
    // Tiny iff rounding at the spacing of the value's own binade would still be below the smallest normal.
    const Multiple own = round_to_multiple(value, value.exponent - format.mantissa_bits, rounding, draw);
    const bool reaches_next_binade = own.count >> format.precision() != 0;
    flags.underflow = !(reaches_next_binade && value.exponent + 1 == format.min_exponent());
  }
  const std::uint32_t smallest_normal = 1U << format.mantissa_bits;
  if (flush.output && code != 0 && code < smallest_normal) {
    flags.underflow = flags.inexact = true;
    return {detail::signed_code(0, value.negative, format), flags};
  }
  return {detail::signed_code(static_cast<std::uint32_t>(code), value.negative, format), flags};
}

}  // namespace mantissa

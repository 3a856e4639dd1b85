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

// Which neighbour a value between two of them takes (ARITHMETIC.md 2): floor(n) + 1 rather than floor(n). The
// fraction f is not 0; `top_bits` are the first random_bits of it.
enum class Half : std::uint8_t { below, at, above };
constexpr bool rounds_up(Rounding rounding, bool odd, Half half, std::uint64_t top_bits, std::uint32_t draw) {
  switch (rounding.mode) {
    case Rounding::Mode::rne:
      return half == Half::above || (half == Half::at && odd);
    case Rounding::Mode::rtz:
      return false;
    case Rounding::Mode::sr:
      return ((top_bits + (draw & rounding.random_mask())) >> rounding.random_bits) != 0;
    case Rounding::Mode::rna:
      return half != Half::below;
    case Rounding::Mode::rnz:
      return half == Half::above;
  }
  refuse_rounding_mode(static_cast<int>(rounding.mode));
}

// Finite values only. `draw` supplies R in its low rounding.random_bits bits.
constexpr Multiple round_to_multiple(const Exact& value, int quantum, Rounding rounding, std::uint32_t draw) {
  const int drop = 63 - (value.exponent - quantum);  // bits of the significand below one quantum
  const std::uint64_t sig = value.significand;
  if (drop <= 0) return {drop == 0 ? sig : ~std::uint64_t{0}, false};  // 2^64 quanta and more: saturated
  const std::uint64_t whole = drop > 63 ? 0 : sig >> drop;
  const std::uint64_t fraction = drop > 63 ? sig : sig & ((std::uint64_t{1} << drop) - 1);
  if (fraction == 0) return {whole, false};
  // drop == 64: the half is bit 63, which is set; drop > 64: below half.
  const std::uint64_t middle = std::uint64_t{1} << (std::min(drop, 64) - 1);
  const Half half = drop > 64 || fraction < middle ? Half::below
                    : fraction == middle           ? Half::at
                                                   : Half::above;
  const int below = drop - rounding.random_bits;
  const std::uint64_t top_bits = below >= 64 ? 0 : (below >= 0 ? fraction >> below : fraction << -below);
  const bool up = rounds_up(rounding, (whole & 1) != 0, half, top_bits, draw);
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
    if (overflow == Overflow::ieee && !traits_of(rounding.mode).stops_at_max) {
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

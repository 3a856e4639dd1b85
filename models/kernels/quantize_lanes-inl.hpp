// Rounding vectors of FP32 patterns to the codes of a narrow format, once per SIMD target. (Include guard as
// Highway wants it.)
#if defined(MANTISSA_KERNELS_QUANTIZE_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_QUANTIZE_LANES_INL
#undef MANTISSA_KERNELS_QUANTIZE_LANES_INL
#else
#define MANTISSA_KERNELS_QUANTIZE_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "models/kernels/conversion_grid.hpp"
#include "models/kernels/float_lanes-inl.hpp"
#include "models/kernels/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Mode = Rounding::Mode;
using DU = hn::ScalableTag<std::uint32_t>;
using DF = hn::ScalableTag<float>;
using VU = hn::VFromD<DU>;
using MU = hn::Mask<DU>;

HWY_INLINE VU Const(std::uint32_t value) { return hn::Set(DU(), value); }
HWY_INLINE MU IsGreater(VU a, VU b) {
  const hn::RebindToSigned<DU> di;
  return hn::RebindMask(DU(), hn::Gt(hn::BitCast(di, a), hn::BitCast(di, b)));
}

// Magnitude codes before overflow, and what was lost on the way.
struct Magnitude {
  VU code;
  MU inexact;
  MU tiny;  // below the smallest normal even when rounded at its own binade's spacing
};

// Round to nearest. A normal's code is its FP32 pattern shifted right, with the carry of the rounding running
// into the exponent; a subnormal is rounded by an addition whose last place is the subnormal spacing.
struct Nearest {
  VU shift, half_below, one, offset, smallest, magic_bits;
  hn::VFromD<DF> magic;

  explicit Nearest(const ConversionGrid& g)
      : shift(Const(23 - g.mantissa_bits)),
        // Ties go to an even multiple of the spacing. Without mantissa bits a normal is 1 times it: odd, so
        // always up.
        half_below(Const((1U << (22 - g.mantissa_bits)) - (g.mantissa_bits == 0 ? 0 : 1))),
        one(Const(g.mantissa_bits == 0 ? 0 : 1)),
        offset(Const(static_cast<std::uint32_t>(g.field - 1) << g.mantissa_bits)),
        smallest(Const(static_cast<std::uint32_t>(g.field) << 23)),
        magic_bits(Const(static_cast<std::uint32_t>(g.field + 23 - g.mantissa_bits) << 23)),
        magic(hn::BitCast(DF(), magic_bits)) {}

  template <bool counting>
  HWY_INLINE Magnitude Round(VU a, VU) const {
    const DU du;
    const DF df;
    const VU last = hn::And(hn::Shr(a, shift), one);
    const VU normal = hn::Sub(hn::Shr(hn::Add(a, hn::Add(half_below, last)), shift), offset);
    const auto value = hn::BitCast(df, a);
    const auto sum = hn::Add(value, magic);
    const VU subnormal = hn::Sub(hn::BitCast(du, sum), magic_bits);
    const MU small = IsGreater(smallest, a);
    Magnitude result{hn::IfThenElse(small, subnormal, normal), small, small};
    if constexpr (counting) {
      const MU lost_small = hn::RebindMask(du, hn::Ne(hn::Sub(sum, magic), value));
      const MU lost_normal = hn::Ne(hn::Shl(hn::Shr(a, shift), shift), a);
      result.inexact = hn::Or(hn::And(small, lost_small), hn::AndNot(small, lost_normal));
      // `normal` is the code at its own binade's spacing, negative where far below: as signed numbers.
      result.tiny = hn::And(small, IsGreater(hn::Shr(Const(1U << 23), shift), normal));
    }
    return result;
  }
};

// Round down the magnitude after adding R below the last place (sr), or nothing (rtz).
struct Downward {
  VU field, one, hidden, mantissa_bits, keep, random_bits, random_mask;

  Downward(const ConversionGrid& g, Rounding rounding)
      : field(Const(g.field)),
        one(Const(1)),
        hidden(Const(1U << g.mantissa_bits)),
        mantissa_bits(Const(g.mantissa_bits)),
        keep(Const(23 - g.mantissa_bits - rounding.random_bits)),
        random_bits(Const(rounding.random_bits)),
        random_mask(Const(rounding.random_bits == 0 ? 0 : rounding.random_mask())) {}

  template <bool counting>
  HWY_INLINE Magnitude Round(VU a, VU draw) const {
    const DU du;
    const VU exponent = hn::Max(hn::ShiftRight<23>(a), one);
    const VU significand = hn::Sub(a, hn::ShiftLeft<23>(hn::Sub(exponent, one)));
    const VU above = hn::Sub(hn::Max(exponent, field), field);
    const VU below = hn::Sub(hn::Max(exponent, field), exponent);
    const VU random = hn::And(draw, random_mask);
    // 24 bits shifted by 31 leave nothing: deeper shifts need not be told apart.
    const VU shift = hn::Min(hn::Add(below, keep), Const(31));
    const VU count = hn::Shr(hn::Add(hn::Shr(significand, shift), random), random_bits);
    Magnitude result{hn::Add(count, hn::Shl(above, mantissa_bits)), hn::Eq(a, a), hn::Eq(a, a)};
    if constexpr (counting) {
      const VU whole = hn::Min(hn::Add(shift, random_bits), Const(31));
      result.inexact = hn::Ne(hn::Shl(hn::Shr(significand, whole), whole), significand);
      const VU own = hn::Shr(hn::Add(hn::Shr(significand, keep), random), random_bits);
      const MU reaches = hn::And(hn::Eq(below, one), hn::Eq(hn::ShiftRight<1>(own), hidden));
      result.tiny = hn::AndNot(reaches, hn::Ne(below, hn::Zero(du)));
    }
    return result;
  }
};

// Adds a vector of magnitudes `a` to the counts; `over` are those whose codes are beyond the largest.
HWY_INLINE void CountLanes(const ConversionGrid& g, VU a, const Magnitude& rounded, MU over,
                           ConversionCounts& counts) {
  const DU du;
  const VU infinity = Const(0x7F800000U);
  const MU is_nan = IsGreater(a, infinity);
  const MU is_inf = hn::Eq(a, infinity);
  const MU number = hn::Not(hn::Or(is_nan, is_inf));
  const MU beyond_max = hn::And(over, number);
  const MU overflow = g.inf_is_overflow ? hn::Or(beyond_max, is_inf) : beyond_max;
  const MU inexact = hn::Or(overflow, hn::And(rounded.inexact, number));
  const MU signalling = hn::And(is_nan, hn::Eq(hn::And(a, Const(1U << 22)), hn::Zero(du)));
  const MU zero = hn::Eq(rounded.code, hn::Zero(du));
  counts.overflow += hn::CountTrue(du, overflow);
  counts.inexact += hn::CountTrue(du, inexact);
  counts.underflow += hn::CountTrue(du, hn::And(rounded.tiny, hn::And(rounded.inexact, number)));
  counts.invalid += hn::CountTrue(du, g.nan_is_invalid ? is_nan : signalling);
  counts.flushed_to_zero += hn::CountTrue(du, hn::And(zero, hn::Ne(a, hn::Zero(du))));
}

// What the ends of a conversion become, as patterns of the result: codes, or FP32 numbers.
struct Ends {
  VU beyond, inf, nan;  // of overflow, Inf and NaN; the last with its sign
  VU sign, sign_shift;  // the result's sign bit; from FP32's to it
  VU sign_beyond;       // what overflow and Inf keep of it: nothing where they give NaN

  Ends(const ConversionGrid& g, const EndPatterns& patterns, std::uint32_t sign_bit, int shift)
      : beyond(Const(patterns.beyond)),
        inf(Const(patterns.inf)),
        nan(Const(patterns.nan)),
        sign(Const(sign_bit)),
        sign_shift(Const(static_cast<std::uint32_t>(shift))),
        sign_beyond(Const(g.unsigned_beyond ? 0 : sign_bit)) {}
};

// The result's pattern. `pattern` is the magnitude's, right where it is not `over`. `plain`: overflow and Inf
// give the same magnitude, signed, and zeros have signs; true of every IEEE-like format.
template <bool plain>
HWY_INLINE VU FinishLanes(const ConversionGrid& g, const Ends& ends, VU bits, VU a, VU pattern, MU over) {
  const VU infinity = Const(0x7F800000U);
  const VU sign = hn::And(hn::Shr(bits, ends.sign_shift), ends.sign);
  VU result = hn::Or(hn::IfThenElse(over, ends.beyond, pattern), sign);
  if constexpr (!plain) {
    if (g.unsigned_zero) result = hn::IfThenZeroElse(hn::Eq(result, ends.sign), result);
    const VU kept_sign = hn::And(sign, ends.sign_beyond);
    result = hn::IfThenElse(over, hn::Or(ends.beyond, g.beyond == g.inf ? kept_sign : sign), result);
    result = hn::IfThenElse(hn::Eq(a, infinity), hn::Or(ends.inf, kept_sign), result);
  }
  return hn::IfThenElse(IsGreater(a, infinity), ends.nan, result);
}

inline bool is_plain(const ConversionGrid& g) {
  // FP32's Inf, read as a number, is beyond the largest unless a scale moved a wide format down.
  const std::uint32_t inf_code =
      (0x7F800000U >> (23 - g.mantissa_bits)) - (static_cast<std::uint32_t>(g.field - 1) << g.mantissa_bits);
  return !g.unsigned_beyond && !g.unsigned_zero && g.beyond == g.inf && inf_code > g.max;
}

// A sink knows the ends of its results, makes their patterns of magnitude codes, and stores them.
template <class Code>
struct CodeSink {
  using Pointer = Code* HWY_RESTRICT;  // codes of one byte would alias anything
  using DC = hn::Rebind<Code, DU>;
  Ends ends;
  Code* out;

  CodeSink(const ConversionGrid& g, Code* to)
      : ends(g, {g.beyond, g.inf, g.nan}, g.sign, g.sign_shift), out(to) {}
  HWY_INLINE VU Pattern(VU magnitude) const { return magnitude; }
  static HWY_INLINE void Put(VU result, Code* to) { hn::StoreU(hn::TruncateTo(DC(), result), DC(), to); }
  static HWY_INLINE void PutFirst(VU result, Code* to, std::size_t count) {
    Code last[hn::MaxLanes(DU())];
    Put(result, last);
    std::copy(last, last + count, to);
  }
};

// The values of the codes, on the grid that the scale has moved.
struct ValueSink {
  using Pointer = float*;  // may be where the numbers come from
  Ends ends;
  float* out;
  VU offset, shift, normal, magic_bits;

  ValueSink(const ConversionGrid& g, const EndPatterns& v, float* to)
      : ends(g, v, 1U << 31, 0),
        out(to),
        offset(Const(static_cast<std::uint32_t>(g.field - 1) << g.mantissa_bits)),
        shift(Const(static_cast<std::uint32_t>(23 - g.mantissa_bits))),
        normal(Const(1U << g.mantissa_bits)),
        magic_bits(Const(static_cast<std::uint32_t>(g.field + 23 - g.mantissa_bits) << 23)) {}
  // The way back of Nearest.
  HWY_INLINE VU Pattern(VU magnitude) const {
    const DF df;
    const auto above_magic = hn::BitCast(df, hn::Add(magnitude, magic_bits));
    const VU subnormal = hn::BitCast(DU(), hn::Sub(above_magic, hn::BitCast(df, magic_bits)));
    return hn::IfThenElse(IsGreater(normal, magnitude), subnormal,
                          hn::Shl(hn::Add(magnitude, offset), shift));
  }
  static HWY_INLINE void Put(VU result, float* to) { hn::StoreU(hn::BitCast(DF(), result), DF(), to); }
  static HWY_INLINE void PutFirst(VU result, float* to, std::size_t count) {
    StoreFirst(hn::BitCast(DF(), result), DF(), to, count);
  }
};

template <bool counting, bool plain, bool random, class Rounder, class Sink>
HWY_INLINE void RoundLoop(const Rounder& rounder, const ConversionGrid& g, const Sink& sink, const float* in,
                          const std::uint32_t* HWY_RESTRICT draw, std::size_t count,
                          ConversionCounts* counts) {
  const DU du;
  const std::size_t lanes = hn::Lanes(du);
  const auto* patterns = reinterpret_cast<const std::uint32_t*>(in);
  const VU max = Const(g.max);
  const typename Sink::Pointer out = sink.out;
  const auto result = [&](VU bits, VU word) HWY_ATTR {
    const VU a = hn::And(bits, Const(0x7FFFFFFFU));
    const Magnitude rounded = rounder.template Round<counting>(a, word);
    const MU over = IsGreater(rounded.code, max);
    if constexpr (counting) CountLanes(g, a, rounded, over, *counts);
    return FinishLanes<plain>(g, sink.ends, bits, a, sink.Pattern(rounded.code), over);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    prefetch_next_page(in + i);
    const VU word = random ? hn::LoadU(du, draw + i) : hn::Zero(du);
    Sink::Put(result(hn::LoadU(du, patterns + i), word), out + i);
  }
  if (i < count) {
    // Padded with zeros, which count as nothing.
    const std::size_t left = count - i;
    const VU word = random ? LoadFirst(du, draw + i, left) : hn::Zero(du);
    Sink::PutFirst(result(LoadFirst(du, patterns + i, left), word), out + i, left);
  }
}

template <bool random, class Rounder, class Sink>
HWY_INLINE void RoundWith(const Rounder& rounder, const ConversionGrid& g, const Sink& sink, const float* in,
                          const std::uint32_t* draw, std::size_t count, ConversionCounts* counts) {
  const bool plain = is_plain(g);
  if (counts != nullptr && plain) {
    RoundLoop<true, true, random>(rounder, g, sink, in, draw, count, counts);
  } else if (counts != nullptr) {
    RoundLoop<true, false, random>(rounder, g, sink, in, draw, count, counts);
  } else if (plain) {
    RoundLoop<false, true, random>(rounder, g, sink, in, draw, count, nullptr);
  } else {
    RoundLoop<false, false, random>(rounder, g, sink, in, draw, count, nullptr);
  }
}

// `count` numbers into a sink. Only a stochastic rounding reads `draw`.
template <class Sink>
HWY_INLINE void RoundInto(const Sink& sink, const ConversionGrid& g, Rounding rounding, const float* in,
                          const std::uint32_t* draw, std::size_t count, ConversionCounts* counts) {
  if (rounding.mode == Mode::rne) {
    RoundWith<false>(Nearest(g), g, sink, in, draw, count, counts);
  } else if (rounding.mode == Mode::rtz) {
    RoundWith<false>(Downward(g, rounding), g, sink, in, draw, count, counts);
  } else {
    RoundWith<true>(Downward(g, rounding), g, sink, in, draw, count, counts);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

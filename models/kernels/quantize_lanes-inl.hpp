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

#include "models/kernels/code_rounders-inl.hpp"
#include "models/kernels/float_lanes-inl.hpp"
#include "models/kernels/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  // The way back of NearestEven.
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

// `count` numbers into a sink. Only a stochastic rounding reads `draw`. Goes through the table of modes
// itself, inline: visit_rounding() would call a function for every block of draws, with the sink in memory.
template <std::size_t number = 0, class Sink>
HWY_INLINE void RoundInto(const Sink& sink, const ConversionGrid& g, Rounding rounding, const float* in,
                          const std::uint32_t* draw, std::size_t count, ConversionCounts* counts) {
  if constexpr (number == rounding_modes.size()) {
    refuse_rounding_mode(static_cast<int>(rounding.mode));
  } else if (constexpr RoundingTraits known = rounding_modes[number]; rounding.mode == known.mode) {
    RoundWith<known.draws>(RounderOf<known.mode>(g, rounding), g, sink, in, draw, count, counts);
  } else {
    RoundInto<number + 1>(sink, g, rounding, in, draw, count, counts);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

#include "models/kernels/quantize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/draw_stream.hpp"
#include "models/kernels/parallel.hpp"
#include "models/kernels/prefetch.hpp"
#include "models/quantize/rounding_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"

#ifndef MANTISSA_KERNELS_QUANTIZE_ONCE
#define MANTISSA_KERNELS_QUANTIZE_ONCE
namespace mantissa::kernels {

// A conversion from FP32 reduced to integers. Scaling by 2^s and rounding to a format of bias b gives the
// code that rounding to bias b + s gives, so the scale disappears into the bias.
struct Grid {
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

inline Grid grid_of(const Conversion& how) {
  const Format& to = how.to;
  const bool saturate = how.overflow == Overflow::saturate || !to.has_nan();
  Grid grid{};
  grid.mantissa_bits = to.mantissa_bits;
  grid.field = 128 - (to.bias + how.scale);
  grid.sign_shift = 32 - to.bits();
  grid.sign = to.sign_bit();
  grid.max = to.max_code();
  grid.inf = saturate ? to.max_code() : (to.has_inf() ? to.inf_code() : to.nan_code());
  grid.beyond = how.rounding.mode == Rounding::Mode::rtz ? to.max_code() : grid.inf;
  grid.nan = to.has_nan() ? to.nan_code() : to.max_code();
  grid.unsigned_beyond = !saturate && !to.has_inf();
  grid.unsigned_zero = !to.has_negative_zero();
  grid.inf_is_overflow = saturate || !to.has_inf();
  grid.nan_is_invalid = !to.has_nan();
  return grid;
}

}  // namespace mantissa::kernels
#endif

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

  explicit Nearest(const Grid& g)
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

  Downward(const Grid& g, Rounding rounding)
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

// `plain`: overflow and Inf give the same magnitude, signed, and zeros have signs; true of every IEEE-like
// format.
template <class Code, bool counting, bool plain, bool random, class Rounder>
HWY_INLINE void QuantizeLoop(const Rounder& rounder, const Grid& g, const float* HWY_RESTRICT in,
                             const std::uint32_t* HWY_RESTRICT draw, Code* HWY_RESTRICT out,
                             std::size_t count, ConversionCounts* counts) {
  const DU du;
  const hn::Rebind<Code, DU> dc;
  const std::size_t lanes = hn::Lanes(du);
  const VU infinity = Const(0x7F800000U);
  const VU absolute = Const(0x7FFFFFFFU);
  const VU max = Const(g.max);
  const VU beyond = Const(g.beyond);
  const VU sign_bit = Const(g.sign);
  const VU sign_shift = Const(static_cast<std::uint32_t>(g.sign_shift));
  const VU nan = Const(g.nan);
  const VU inf = Const(g.inf);
  const VU signs_beyond = Const(g.unsigned_beyond ? 0 : g.sign);
  for (std::size_t i = 0; i < count; i += lanes) {
    prefetch_next_page(in + i);
    const VU bits = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(in + i));
    const VU a = hn::And(bits, absolute);
    const VU word = random ? hn::LoadU(du, draw + i) : hn::Zero(du);
    const Magnitude rounded = rounder.template Round<counting>(a, word);
    const MU over = IsGreater(rounded.code, max);
    const MU is_nan = IsGreater(a, infinity);
    const VU sign = hn::And(hn::Shr(bits, sign_shift), sign_bit);
    VU code = hn::Or(hn::IfThenElse(over, beyond, rounded.code), sign);
    if constexpr (!plain) {
      if (g.unsigned_zero) code = hn::IfThenZeroElse(hn::Eq(code, sign_bit), code);
      const VU kept_sign = hn::And(sign, signs_beyond);
      code = hn::IfThenElse(over, hn::Or(beyond, g.beyond == g.inf ? kept_sign : sign), code);
      code = hn::IfThenElse(hn::Eq(a, infinity), hn::Or(inf, kept_sign), code);
    }
    code = hn::IfThenElse(is_nan, nan, code);
    hn::StoreU(hn::TruncateTo(dc, code), dc, out + i);
    if constexpr (counting) {
      const MU is_inf = hn::Eq(a, infinity);
      const MU number = hn::Not(hn::Or(is_nan, is_inf));
      const MU beyond_max = hn::And(over, number);
      const MU overflow = g.inf_is_overflow ? hn::Or(beyond_max, is_inf) : beyond_max;
      const MU inexact = hn::Or(overflow, hn::And(rounded.inexact, number));
      const MU signalling = hn::And(is_nan, hn::Eq(hn::And(a, Const(1U << 22)), hn::Zero(du)));
      const MU zero = hn::Eq(rounded.code, hn::Zero(du));
      counts->overflow += hn::CountTrue(du, overflow);
      counts->inexact += hn::CountTrue(du, inexact);
      counts->underflow += hn::CountTrue(du, hn::And(rounded.tiny, hn::And(rounded.inexact, number)));
      counts->invalid += hn::CountTrue(du, g.nan_is_invalid ? is_nan : signalling);
      counts->flushed_to_zero += hn::CountTrue(du, hn::And(zero, hn::Ne(a, hn::Zero(du))));
    }
  }
}

template <class Code, bool counting, bool random, class Rounder>
HWY_INLINE void QuantizeShape(const Rounder& rounder, const Grid& g, const float* in,
                              const std::uint32_t* draw, Code* out, std::size_t count,
                              ConversionCounts* counts) {
  // FP32's Inf, read as a number, is beyond the largest unless a scale moved a wide format down.
  const std::uint32_t inf_code =
      (0x7F800000U >> (23 - g.mantissa_bits)) - (static_cast<std::uint32_t>(g.field - 1) << g.mantissa_bits);
  if (!g.unsigned_beyond && !g.unsigned_zero && g.beyond == g.inf && inf_code > g.max) {
    QuantizeLoop<Code, counting, true, random>(rounder, g, in, draw, out, count, counts);
  } else {
    QuantizeLoop<Code, counting, false, random>(rounder, g, in, draw, out, count, counts);
  }
}

template <class Code, bool random, class Rounder>
HWY_INLINE void QuantizeCounted(const Rounder& rounder, const Grid& g, const float* in,
                                const std::uint32_t* draw, Code* out, std::size_t count,
                                ConversionCounts* counts) {
  if (counts != nullptr) {
    QuantizeShape<Code, true, random>(rounder, g, in, draw, out, count, counts);
  } else {
    QuantizeShape<Code, false, random>(rounder, g, in, draw, out, count, counts);
  }
}

// Whole vectors straight, the rest through a padded vector of zeros, which count as nothing.
template <bool random, class Code, class Rounder>
HWY_INLINE void QuantizeAny(const Rounder& rounder, const Grid& g, const float* in, const std::uint32_t* draw,
                            Code* out, std::size_t count, ConversionCounts* counts) {
  const std::size_t lanes = hn::Lanes(DU());
  const std::size_t whole = count / lanes * lanes;
  QuantizeCounted<Code, random>(rounder, g, in, draw, out, whole, counts);
  if (whole == count) return;
  float last_in[hn::MaxLanes(DU())] = {};
  std::uint32_t last_draw[hn::MaxLanes(DU())] = {};
  Code last_out[hn::MaxLanes(DU())];
  std::copy(in + whole, in + count, last_in);
  if (random) std::copy(draw + whole, draw + count, last_draw);
  QuantizeCounted<Code, random>(rounder, g, last_in, last_draw, last_out, lanes, counts);
  std::copy(last_out, last_out + (count - whole), out + whole);
}

template <class Code>
HWY_INLINE void QuantizeMode(const Grid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                             Code* out, std::size_t count, ConversionCounts* counts) {
  if (rounding.mode == Mode::rne) {
    QuantizeAny<false>(Nearest(g), g, in, draw, out, count, counts);
  } else if (rounding.mode == Mode::rtz) {
    QuantizeAny<false>(Downward(g, rounding), g, in, draw, out, count, counts);
  } else {
    QuantizeAny<true>(Downward(g, rounding), g, in, draw, out, count, counts);
  }
}

void QuantizeTo8(const Grid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                 std::uint8_t* out, std::size_t count, ConversionCounts* counts) {
  QuantizeMode(g, rounding, in, draw, out, count, counts);
}
void QuantizeTo16(const Grid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                  std::uint16_t* out, std::size_t count, ConversionCounts* counts) {
  QuantizeMode(g, rounding, in, draw, out, count, counts);
}
void Dequantize8(const float* table, const std::uint8_t* code, float* out, std::size_t count) {
  DecodeRow(table, code, out, count);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(QuantizeTo8);
HWY_EXPORT(QuantizeTo16);
HWY_EXPORT(Dequantize8);

// Random numbers are made and used a block at a time, in the first-level cache.
constexpr std::int64_t block_elements = 4096;

// Whole draws of every lane.
std::int64_t block_of(const DrawSource& draws) {
  const std::int64_t lanes = std::max(draws.lanes, 1);
  return (block_elements + lanes - 1) / lanes * lanes;
}

// The vector form wants the target's smallest normal to be a normal FP32 number (and for counts the one below
// it too), and room for the random bits.
bool vectorised(const Conversion& how, bool counting) {
  const int smallest = how.to.min_exponent() - how.scale;
  const int lowest = counting ? -125 : -126;
  return !how.via_fp16 && how.flush == Flush{} && how.to.mantissa_bits <= 22 && smallest >= lowest &&
         smallest <= 100 && how.to.mantissa_bits + how.rounding.random_bits <= 23;
}

template <class Code>
void quantize_range(std::span<const float> values, const Grid& grid, const Conversion& how,
                    const DrawSource& draws, std::span<Code> codes, std::int64_t begin, std::int64_t end,
                    ConversionCounts* counts) {
  const auto run = [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
    if constexpr (sizeof(Code) == 1) {
      HWY_DYNAMIC_DISPATCH(QuantizeTo8)
      (grid, how.rounding, values.data() + first, draw, codes.data() + first, count, counts);
    } else {
      HWY_DYNAMIC_DISPATCH(QuantizeTo16)
      (grid, how.rounding, values.data() + first, draw, codes.data() + first, count, counts);
    }
  };
  if (!how.rounding.stochastic()) return run(nullptr, begin, end - begin);
  const std::int64_t lanes = draws.lanes;
  const std::int64_t block = block_of(draws);
  DrawStream stream(draws, 0, draws.lanes);
  stream.seek(begin / lanes);
  AlignedBuffer<std::uint32_t> random(block);
  for (std::int64_t i = begin; i < end; i += block) {
    stream.fill(random.span());
    run(random.data(), i, std::min(block, end - i));
  }
}

}  // namespace

template <class Code>
void quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
              std::span<Code> codes, int threads, ConversionCounts* counts) {
  check_quantizer(how, 8 * sizeof(Code), values.size(), codes.size());
  if (!vectorised(how, counts != nullptr)) {
    const ConversionCounts met = mantissa::quantize(values, how, draws, codes);
    if (counts != nullptr) *counts += met;
    return;
  }
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses
  const Grid grid = grid_of(how);
  const std::int64_t grain = block_of(draws);
  std::mutex merge;
  parallel_ranges(
      static_cast<std::int64_t>(values.size()), grain, threads, [&](std::int64_t begin, std::int64_t end) {
        ConversionCounts met;
        met.elements = end - begin;
        quantize_range(values, grid, how, draws, codes, begin, end, counts != nullptr ? &met : nullptr);
        if (counts != nullptr) {
          const std::lock_guard lock(merge);
          *counts += met;
        }
      });
}

template void quantize(std::span<const float>, const Conversion&, const DrawSource&, std::span<std::uint8_t>,
                       int, ConversionCounts*);
template void quantize(std::span<const float>, const Conversion&, const DrawSource&, std::span<std::uint16_t>,
                       int, ConversionCounts*);

void dequantize(std::span<const std::uint8_t> codes, const Conversion& how, std::span<float> values,
                int threads) {
  check_quantizer(how, 8, values.size(), codes.size());
  // All answers the scalar model can give, looked up.
  std::array<std::uint8_t, 256> all;
  for (std::size_t code = 0; code < all.size(); ++code)
    all[code] = static_cast<std::uint8_t>(code & how.to.code_mask());
  std::array<float, 256> table;
  mantissa::dequantize<std::uint8_t>(all, how, table);
  parallel_ranges(static_cast<std::int64_t>(codes.size()), block_elements, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    HWY_DYNAMIC_DISPATCH(Dequantize8)
                    (table.data(), codes.data() + begin, values.data() + begin, end - begin);
                  });
}

}  // namespace mantissa::kernels
#endif

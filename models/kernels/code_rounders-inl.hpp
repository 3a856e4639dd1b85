// Rounding vectors of FP32 magnitudes to magnitude codes of a narrow format, one rounder per way of rounding;
// once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_CODE_ROUNDERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_CODE_ROUNDERS_INL
#undef MANTISSA_KERNELS_CODE_ROUNDERS_INL
#else
#define MANTISSA_KERNELS_CODE_ROUNDERS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "models/kernels/conversion_grid.hpp"

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

// Round to nearest, ties to even. A normal's code is its FP32 pattern shifted right, with the carry of the
// rounding running into the exponent; a subnormal is rounded by an addition whose last place is the subnormal
// spacing.
struct NearestEven {
  VU shift, half_below, one, offset, smallest, magic_bits;
  hn::VFromD<DF> magic;

  explicit NearestEven(const ConversionGrid& g)
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

// A magnitude as a whole number, and where it stands: `below` the smallest normal number's binade the shift
// to the target's spacing grows, `above` it the code's exponent.
struct Place {
  VU significand, above, below;

  HWY_INLINE Place(VU a, VU field) {
    const VU one = Const(1);
    const VU exponent = hn::Max(hn::ShiftRight<23>(a), one);
    const VU limited = hn::Max(exponent, field);
    significand = hn::Sub(a, hn::ShiftLeft<23>(hn::Sub(exponent, one)));
    above = hn::Sub(limited, field);
    below = hn::Sub(limited, exponent);
  }
  // 24 bits shifted by 31 leave nothing: deeper shifts need not be told apart.
  HWY_INLINE VU Shift(VU keep) const { return hn::Min(hn::Add(below, keep), Const(31)); }
  HWY_INLINE MU IsInexact(VU shift) const {
    return hn::Ne(hn::Shl(hn::Shr(significand, shift), shift), significand);
  }
  // `own` is the significand rounded at the spacing of its own binade.
  HWY_INLINE MU IsTiny(VU own, VU hidden) const {
    const MU reaches = hn::And(hn::Eq(below, Const(1)), hn::Eq(hn::ShiftRight<1>(own), hidden));
    return hn::AndNot(reaches, hn::Ne(below, hn::Zero(DU())));
  }
};

// Round down the magnitude after adding R below the last place (sr), or nothing (rtz).
struct Downward {
  VU field, hidden, mantissa_bits, keep, random_bits, random_mask;

  Downward(const ConversionGrid& g, Rounding rounding)
      : field(Const(g.field)),
        hidden(Const(1U << g.mantissa_bits)),
        mantissa_bits(Const(g.mantissa_bits)),
        keep(Const(23 - g.mantissa_bits - rounding.random_bits)),
        random_bits(Const(rounding.random_bits)),
        random_mask(Const(rounding.random_bits == 0 ? 0 : rounding.random_mask())) {}

  template <bool counting>
  HWY_INLINE Magnitude Round(VU a, VU draw) const {
    const Place x(a, field);
    const VU random = hn::And(draw, random_mask);
    const VU shift = x.Shift(keep);
    const VU count = hn::Shr(hn::Add(hn::Shr(x.significand, shift), random), random_bits);
    Magnitude result{hn::Add(count, hn::Shl(x.above, mantissa_bits)), hn::Eq(a, a), hn::Eq(a, a)};
    if constexpr (counting) {
      result.inexact = x.IsInexact(hn::Min(hn::Add(shift, random_bits), Const(31)));
      const VU own = hn::Shr(hn::Add(hn::Shr(x.significand, keep), random), random_bits);
      result.tiny = x.IsTiny(own, hidden);
    }
    return result;
  }
};

// Round to nearest, ties away from zero or toward it: down, after adding half of the last place, or a little
// less.
template <bool away>
struct NearestTied {
  VU field, hidden, mantissa_bits, keep;

  explicit NearestTied(const ConversionGrid& g)
      : field(Const(g.field)),
        hidden(Const(1U << g.mantissa_bits)),
        mantissa_bits(Const(g.mantissa_bits)),
        keep(Const(23 - g.mantissa_bits)) {}

  HWY_INLINE VU Shifted(VU significand, VU shift) const {
    const VU half = hn::Shl(Const(1), hn::Sub(shift, Const(1)));
    return hn::Shr(hn::Add(significand, away ? half : hn::Sub(half, Const(1))), shift);
  }
  template <bool counting>
  HWY_INLINE Magnitude Round(VU a, VU) const {
    const Place x(a, field);
    const VU shift = x.Shift(keep);
    const VU count = Shifted(x.significand, shift);
    Magnitude result{hn::Add(count, hn::Shl(x.above, mantissa_bits)), hn::Eq(a, a), hn::Eq(a, a)};
    if constexpr (counting) {
      result.inexact = x.IsInexact(shift);
      result.tiny = x.IsTiny(Shifted(x.significand, keep), hidden);
    }
    return result;
  }
};

template <Mode mode>
HWY_INLINE auto RounderOf(const ConversionGrid& g, Rounding rounding) {
  if constexpr (mode == Mode::rne) {
    (void)rounding;
    return NearestEven(g);
  } else if constexpr (mode == Mode::rna || mode == Mode::rnz) {
    (void)rounding;
    return NearestTied<mode == Mode::rna>(g);
  } else {
    static_assert(mode == Mode::rtz || mode == Mode::sr);
    return Downward(g, rounding);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// Rounding vectors of sums to an accumulator format, once per SIMD target. (Include guard as Highway wants
// it.)
//
// With t = 2^exponent of a sum s (never below the smallest normal), the quantum is q = t * 2^-M. Adding and
// subtracting a multiple of t that is so large that its last place is q rounds s to a multiple of q in the
// adder's own rounding direction. M is the format's mantissa width; lanes are float or double.
#if defined(MANTISSA_KERNELS_ROUND_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_ROUND_LANES_INL
#undef MANTISSA_KERNELS_ROUND_LANES_INL
#else
#define MANTISSA_KERNELS_ROUND_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/format/exact.hpp"
#include "models/format/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr bool has_directed_rounding = true;
#else
constexpr bool has_directed_rounding = false;
#endif

using Mode = Rounding::Mode;

template <class T>
using VecOf = hn::VFromD<hn::ScalableTag<T>>;

#if HWY_TARGET <= HWY_AVX3
// a * b + c, rounded toward zero, up or down. The product is exact in all uses, so only the sum rounds.
constexpr int to_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int upward = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
constexpr int downward = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
template <int direction>
HWY_INLINE VecOf<float> DirectedMulAdd(VecOf<float> a, VecOf<float> b, VecOf<float> c) {
  return VecOf<float>{_mm512_fmadd_round_ps(a.raw, b.raw, c.raw, direction)};
}
template <int direction>
HWY_INLINE VecOf<double> DirectedMulAdd(VecOf<double> a, VecOf<double> b, VecOf<double> c) {
  return VecOf<double>{_mm512_fmadd_round_pd(a.raw, b.raw, c.raw, direction)};
}
// max(a, |b|), a >= 0. NaN in b may be lost: a NaN accumulator stays NaN and is seen at the end.
HWY_INLINE VecOf<float> MaxMagnitude(VecOf<float> a, VecOf<float> b) {
  return VecOf<float>{_mm512_range_ps(a.raw, b.raw, 0x0B)};
}
HWY_INLINE VecOf<double> MaxMagnitude(VecOf<double> a, VecOf<double> b) {
  return VecOf<double>{_mm512_range_pd(a.raw, b.raw, 0x0B)};
}
#else
template <class V>
HWY_INLINE V MaxMagnitude(V a, V b) {
  return hn::Max(a, hn::Abs(b));
}
#endif

// Where the steps between two roundings lie, broadcast to vectors.
template <class T>
struct Lattice {
  using D = hn::ScalableTag<T>;
  using V = hn::VFromD<D>;
  static constexpr int digits = std::numeric_limits<T>::digits - 1;  // fraction bits of a lane

  V exponent_mask, smallest, largest, nearest, floor, floor_random, quantum, quantum_random;

  Lattice(const Format& format, Rounding rounding) {
    const D d;
    const int m = format.mantissa_bits;
    exponent_mask = hn::Set(d, std::numeric_limits<T>::infinity());
    smallest = hn::Set(d, std::ldexp(T{1}, format.min_exponent()));
    largest = hn::Set(d, static_cast<T>(to_double(format.max_code(), format)));
    nearest = hn::Set(d, std::ldexp(T{1.5}, digits - m));
    floor = hn::Set(d, std::ldexp(T{1}, digits - m));
    floor_random = hn::Set(d, std::ldexp(T{1}, digits - m - rounding.random_bits));
    quantum = hn::Set(d, std::ldexp(T{1}, -m));
    quantum_random = hn::Set(d, std::ldexp(T{1}, -m - rounding.random_bits));
  }

  // 2^exponent of s, at least the smallest normal.
  HWY_INLINE V Binade(V s) const { return hn::Max(hn::And(s, exponent_mask), smallest); }

  // To nearest, ties as the mode says.
  template <Mode mode>
  HWY_INLINE V Nearest(V s) const {
    const V t = Binade(s);
    if constexpr (mode == Mode::rne) {
      // Results that round to zero are +0.
      return hn::NegMulAdd(t, nearest, hn::MulAdd(t, nearest, s));
    } else {
      static_assert(mode == Mode::rna || mode == Mode::rnz);
      const V m = hn::Abs(s);
      const V below = Floor(m, t, floor, quantum);
      const V step = hn::Mul(t, quantum);
      const V twice = hn::Mul(hn::Sub(m, below), hn::Set(D(), T{2}));  // of the rest, which is exact
      const auto up = mode == Mode::rna ? hn::Ge(twice, step) : hn::Gt(twice, step);
      return hn::CopySignToAbs(hn::Add(below, hn::IfThenElseZero(up, step)), s);
    }
  }

  // The largest multiple of t * quantum, or of t * quantum * 2^-r with step = floor_random, that is <= m; m
  // >= 0. `grain` is that multiple's step over t.
  HWY_INLINE V Floor(V m, V t, V step, V grain) const {
#if HWY_TARGET <= HWY_AVX3
    (void)grain;
    return hn::NegMulAdd(t, step, DirectedMulAdd<to_zero>(t, step, m));
#else
    const V r = hn::NegMulAdd(t, step, hn::MulAdd(t, step, m));
    return hn::Sub(r, hn::IfThenElseZero(hn::Gt(r, m), hn::Mul(t, grain)));
#endif
  }

  // The same for sums that are exact with bits to spare: rounding m - q/2 + (a little) to nearest rounds m
  // down, and costs no comparison. The little, 2^-51 of the binade, is below every bit of m.
  static T JustBelowHalf(int mantissa_bits) {
    return std::ldexp(T{-0.5}, -mantissa_bits) + std::ldexp(T{1}, 1 - digits);
  }
  // `shifted` is JustBelowHalf, plus R * 2^-(r + M) if stochastic.
  HWY_INLINE V RoundDownExact(V s, V shifted) const {
    const V t = Binade(s);
    const V moved = hn::MulAdd(t, shifted, hn::Abs(s));
    return hn::CopySignToAbs(hn::NegMulAdd(t, nearest, hn::MulAdd(t, nearest, moved)), s);
  }

  HWY_INLINE V Truncate(V s) const {
    const V t = Binade(s);
    return hn::CopySignToAbs(Floor(hn::Abs(s), t, floor, quantum), s);
  }
  // `random` is R * 2^-(r + M): times t, R parts in 2^r of a quantum.
  HWY_INLINE V Stochastic(V s, V random) const {
    const V t = Binade(s);
    const V m = hn::Abs(s);
#if HWY_TARGET <= HWY_AVX3
    // Rounding this sum toward zero keeps the bits that decide: at least 2^-r quanta.
    const V bumped = DirectedMulAdd<to_zero>(t, random, m);
#else
    const V bumped = hn::MulAdd(t, random, Floor(m, t, floor_random, quantum_random));
#endif
    return hn::CopySignToAbs(Floor(bumped, t, floor, quantum), s);
  }
};

// a * b + acc in the lanes' own precision, rounded to odd: the last place is set if anything was lost. A
// later rounding to two bits fewer sees what it would have seen of the exact sum.
template <class V>
HWY_INLINE V OddMulAdd(V a, V b, V acc) {
  const hn::DFromV<V> d;
#if HWY_TARGET <= HWY_AVX3
  const V down = DirectedMulAdd<downward>(a, b, acc);
  const V up = DirectedMulAdd<upward>(a, b, acc);
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto odd = hn::TestBit(hn::BitCast(du, down), hn::Set(du, 1));
  return hn::IfThenElse(hn::RebindMask(d, odd), down, up);
#else
  // The error of the sum is exact (Knuth); it says to which side the odd neighbour lies.
  const V product = hn::Mul(a, b);
  const V sum = hn::Add(product, acc);
  const V back = hn::Sub(sum, product);
  const V error = hn::Add(hn::Sub(product, hn::Sub(sum, back)), hn::Sub(acc, back));
  const hn::RebindToSigned<decltype(d)> di;
  const auto bits = hn::BitCast(di, sum);
  const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
  // Ordered comparisons: a NaN error (Inf, NaN in the sum) moves nothing.
  const auto lost = hn::RebindMask(di, hn::Gt(hn::Abs(error), hn::Zero(d)));
  const auto inward = hn::Lt(hn::Xor(bits, hn::BitCast(di, error)), hn::Zero(di));
  const auto step = hn::IfThenElse(inward, hn::Set(di, -1), hn::Set(di, 1));
  return hn::BitCast(d, hn::Add(bits, hn::IfThenElseZero(hn::And(even, lost), step)));
#endif
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

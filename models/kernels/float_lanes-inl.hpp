// FP32 operations on vectors that Highway has not, or not with the bits of ARITHMETIC.md on every target;
// once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_FLOAT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_FLOAT_LANES_INL
#undef MANTISSA_KERNELS_FLOAT_LANES_INL
#else
#define MANTISSA_KERNELS_FLOAT_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/format/named.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// fma(a, b, c), rounded once.
template <class V>
HWY_INLINE V FusedMulAdd(V a, V b, V c) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MulAdd(a, b, c);
#else
  // Highway does not fuse here.
  const hn::DFromV<V> d;
  alignas(64) float x[hn::MaxLanes(d)];
  alignas(64) float y[hn::MaxLanes(d)];
  alignas(64) float z[hn::MaxLanes(d)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

// The canonical NaN for any NaN. A NaN stays one through any FP32 operation, so results need this only once,
// at the end.
template <class V>
HWY_INLINE V Canonical(V x) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  return hn::IfThenElse(hn::IsNaN(x), hn::BitCast(d, hn::Set(du, formats::fp32.nan_code())), x);
}

// The first `count` lanes from memory, zeros in the others, without a look at what lies behind.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> LoadFirst(D d, const T* from, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  alignas(64) T padded[hn::MaxLanes(d)] = {};
  std::copy(from, from + count, padded);
  return hn::Load(d, padded);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::VFromD<D> x, D d, T* to, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(x, hn::FirstN(d, count), d, to);
#else
  alignas(64) T padded[hn::MaxLanes(d)];
  hn::Store(x, d, padded);
  std::copy(padded, padded + count, to);
#endif
}

// Lane j of row i becomes lane i of row j. Rows have 8, 4 or 1 lanes.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void Transpose(D d, V (&row)[hn::MaxLanes(D())]) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t lanes = hn::MaxLanes(D());
  static_assert(lanes == 4 || lanes == 8);
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
  const auto lower = [&](V a, V b) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b)));
  };
  const auto upper = [&](V a, V b) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b)));
  };
  // Four rows at a time, within each block of four lanes.
  for (std::size_t i = 0; i < lanes; i += 4) {
    const V low01 = hn::InterleaveLower(d, row[i], row[i + 1]);
    const V low23 = hn::InterleaveLower(d, row[i + 2], row[i + 3]);
    const V high01 = hn::InterleaveUpper(d, row[i], row[i + 1]);
    const V high23 = hn::InterleaveUpper(d, row[i + 2], row[i + 3]);
    row[i] = lower(low01, low23);
    row[i + 1] = upper(low01, low23);
    row[i + 2] = lower(high01, high23);
    row[i + 3] = upper(high01, high23);
  }
  if constexpr (lanes == 8) {
    for (std::size_t i = 0; i < 4; ++i) {
      const V low = hn::ConcatLowerLower(d, row[i + 4], row[i]);
      row[i + 4] = hn::ConcatUpperUpper(d, row[i + 4], row[i]);
      row[i] = low;
    }
  }
#else
  (void)d;
  (void)row;
#endif
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

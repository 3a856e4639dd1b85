// A chain of fused multiply-adds in FP32, and its end, once per SIMD target. (Include guard as Highway wants
// it.)
#if defined(MANTISSA_KERNELS_FP32_CHAIN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_FP32_CHAIN_INL
#undef MANTISSA_KERNELS_FP32_CHAIN_INL
#else
#define MANTISSA_KERNELS_FP32_CHAIN_INL
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "models/format/format.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One rounding, also where Highway would not fuse.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Fused(D d, V a, V b, V c) {
#if HWY_TARGET <= HWY_AVX2
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN hn::TFromD<D> x[3][hn::MaxLanes(D())];
  hn::StoreU(a, d, x[0]);
  hn::StoreU(b, d, x[1]);
  hn::StoreU(c, d, x[2]);
  for (std::size_t i = 0; i < lanes; ++i) x[2][i] = std::fma(x[0][i], x[1][i], x[2][i]);
  return hn::LoadU(d, x[2]);
#endif
}

template <class D>
HWY_INLINE hn::VFromD<D> WithCanonicalNan(D d, hn::VFromD<D> x) {
  const hn::RebindToUnsigned<D> du;
  return hn::IfThenElse(hn::IsNaN(x), hn::BitCast(d, hn::Set(du, formats::fp32.nan_code())), x);
}

// The end of a chain: a product that underflows may leave -0, which becomes +0.
template <class D>
HWY_INLINE hn::VFromD<D> Finished(D d, hn::VFromD<D> sum) {
  return WithCanonicalNan(d, hn::Add(sum, hn::Zero(d)));
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

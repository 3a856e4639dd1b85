// Copies of short rows, once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_COPY_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_COPY_ROW_INL
#undef MANTISSA_KERNELS_COPY_ROW_INL
#else
#define MANTISSA_KERNELS_COPY_ROW_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A call of memcpy would cost more than the copy of a row of an image or of a thin matrix.
template <class T>
HWY_INLINE void CopyRow(const T* HWY_RESTRICT from, T* HWY_RESTRICT to, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  if (i < count) {
    const auto mask = hn::FirstN(d, count - i);
    hn::BlendedStore(hn::MaskedLoad(mask, d, from + i), mask, d, to + i);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

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

// A row that is at least a vector of `cap` elements long, or any row with the vectors below that. The last
// vector overlaps the one before it: masked stores are microcode on some CPUs.
template <std::size_t cap, class T>
HWY_INLINE void CopyRowBy(const T* HWY_RESTRICT from, T* HWY_RESTRICT to, std::size_t count) {
  const hn::CappedTag<T, cap> d;
  const std::size_t lanes = hn::Lanes(d);
  if (count >= lanes) {
    for (std::size_t i = 0; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (count % lanes != 0) hn::StoreU(hn::LoadU(d, from + count - lanes), d, to + count - lanes);
  } else if constexpr (cap > 1) {
    CopyRowBy<cap / 2>(from, to, count);
  }
}

// A call of memcpy would cost more than the copy of a row of an image or of a thin matrix.
template <class T>
HWY_INLINE void CopyRow(const T* HWY_RESTRICT from, T* HWY_RESTRICT to, std::size_t count) {
  CopyRowBy<HWY_LANES(T)>(from, to, count);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// Channels side by side, once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_TRANSPOSE_INL
#undef MANTISSA_KERNELS_TRANSPOSE_INL
#else
#define MANTISSA_KERNELS_TRANSPOSE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Four places of four channels, which stand `places` apart, as four lanes of four places `lanes` apart.
HWY_INLINE void Transpose4x4(const float* HWY_RESTRICT from, std::size_t places, std::size_t lanes,
                             float* HWY_RESTRICT to) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + places);
  const auto row2 = hn::LoadU(d, from + 2 * places);
  const auto row3 = hn::LoadU(d, from + 3 * places);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + lanes);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * lanes);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * lanes);
}
#endif

// [channels][places] as [places][lanes]; lanes without a channel are left alone.
template <class Element, class T>
HWY_NOINLINE void Transpose(const Element* HWY_RESTRICT from, std::size_t channels, std::size_t places,
                            std::size_t lanes, T* HWY_RESTRICT to) {
  std::size_t quads = 0;  // channels that went four by four
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<Element, float> && std::is_same_v<T, float>) {
    for (; quads + 4 <= channels; quads += 4) {
      const float* in = from + quads * places;
      float* out = to + quads;
      std::size_t i = 0;
      for (; i + 4 <= places; i += 4) Transpose4x4(in + i, places, lanes, out + i * lanes);
      for (; i < places; ++i) {
        for (std::size_t c = 0; c < 4; ++c) out[i * lanes + c] = in[c * places + i];
      }
    }
  }
#endif
  for (std::size_t c = quads; c < channels; ++c) {
    for (std::size_t i = 0; i < places; ++i) to[i * lanes + c] = static_cast<T>(from[c * places + i]);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// Copies of an image into its padded form, once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_PAD_IMAGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_PAD_IMAGE_INL
#undef MANTISSA_KERNELS_PAD_IMAGE_INL
#else
#define MANTISSA_KERNELS_PAD_IMAGE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "models/kernels/conv_plan.hpp"
#include "models/kernels/copy_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Elements 0, 2, 4 .. of a row to `even`, the others to `odd`.
HWY_INLINE void SplitRow(const float* HWY_RESTRICT from, std::size_t count, float* HWY_RESTRICT even,
                         float* HWY_RESTRICT odd) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    const std::size_t rest = count - i;
    const auto low = hn::MaskedLoad(hn::FirstN(d, rest), d, from + i);
    const auto high =
        rest > lanes ? hn::MaskedLoad(hn::FirstN(d, rest - lanes), d, from + i + lanes) : hn::Zero(d);
    hn::BlendedStore(hn::ConcatEven(d, high, low), hn::FirstN(d, (rest + 1) / 2), d, even + i / 2);
    hn::BlendedStore(hn::ConcatOdd(d, high, low), hn::FirstN(d, rest / 2), d, odd + i / 2);
  }
}
#endif

// Element i of a row of an image to position i + before of its padded form, whose phases stand `apart`.
HWY_INLINE void PadRow(const float* HWY_RESTRICT from, const PaddedAxis& axis, std::size_t apart,
                       float* HWY_RESTRICT to) {
  const std::size_t count = axis.size;
  const std::size_t step = axis.step;
  const std::size_t before = axis.before;
  if (step == 1) {
    CopyRow(from, to + before, count);
    return;
  }
#if HWY_TARGET != HWY_SCALAR
  if (step == 2) {
    SplitRow(from, count, to + before % 2 * apart + before / 2,
             to + (before + 1) % 2 * apart + (before + 1) / 2);
    return;
  }
#endif
  for (std::size_t i = 0; i < count; ++i) to[(i + before) % step * apart + (i + before) / step] = from[i];
}

// The channels of one image, starting at `from`, into their padded form, of which only what lies inside the
// image is written.
HWY_INLINE void PadImage(const float* HWY_RESTRICT from, const PaddedImage& image, std::int64_t channel0,
                         std::int64_t channel1, float* HWY_RESTRICT to) {
  const PaddedAxis& rows = image.axis[0];
  const PaddedAxis& columns = image.axis[1];
  const std::size_t apart = static_cast<std::size_t>(rows.length * columns.length);
  for (std::int64_t c = channel0; c < channel1; ++c) {
    for (std::int64_t row = 0; row < rows.size; ++row) {
      const std::int64_t position = row + rows.before;
      PadRow(from + (c * rows.size + row) * columns.size, columns, apart,
             to + c * image.plane() + position % rows.step * columns.step * static_cast<std::int64_t>(apart) +
                 position / rows.step * columns.length);
    }
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

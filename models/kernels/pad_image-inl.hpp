// The padded form of an image, once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_PAD_IMAGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_PAD_IMAGE_INL
#undef MANTISSA_KERNELS_PAD_IMAGE_INL
#else
#define MANTISSA_KERNELS_PAD_IMAGE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/conv_plan.hpp"
#include "models/kernels/copy_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Elements 0, 2, 4 .. of a row to `even`, the others to `odd`.
template <class T>
HWY_INLINE void SplitRow(const T* HWY_RESTRICT from, std::size_t count, T* HWY_RESTRICT even,
                         T* HWY_RESTRICT odd) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto low = hn::LoadU(d, from + i);
    const auto high = hn::LoadU(d, from + i + lanes);
    hn::StoreU(hn::ConcatEven(d, high, low), d, even + i / 2);
    hn::StoreU(hn::ConcatOdd(d, high, low), d, odd + i / 2);
  }
  const std::size_t rest = count - i;
  if (rest == 0) return;
  // What lies behind the row must stay as it is, so the last elements take a detour.
  HWY_ALIGN T last[2][HWY_LANES(T)];
  const auto low = hn::MaskedLoad(hn::FirstN(d, rest), d, from + i);
  const auto high =
      rest > lanes ? hn::MaskedLoad(hn::FirstN(d, rest - lanes), d, from + i + lanes) : hn::Zero(d);
  hn::Store(hn::ConcatEven(d, high, low), d, last[0]);
  hn::Store(hn::ConcatOdd(d, high, low), d, last[1]);
  CopyRow(last[0], even + i / 2, (rest + 1) / 2);
  CopyRow(last[1], odd + i / 2, rest / 2);
}
#endif

// Element i of a row of an image to position i + before of its padded form, whose phases stand `apart`.
template <class T>
HWY_INLINE void PadRow(const T* HWY_RESTRICT from, const PaddedAxis& axis, std::size_t apart,
                       T* HWY_RESTRICT to) {
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

// The padded form of images that come one after another: floats as they are, integers as doubles.
template <class Element, class T>
class Padder {
 public:
  // Padding, and `slack` elements after the image, are `zero`.
  Padder(const PaddedImage& image, std::size_t slack, T zero)
      : image_(image), padded_(image.elements() + slack), row_(image.axis[1].size) {
    std::fill(padded_.span().begin(), padded_.span().end(), zero);
  }

  // Channels [channel0, channel1) of the image that starts at `from`.
  void Pad(const Element* from, std::int64_t channel0, std::int64_t channel1) {
    const PaddedAxis& rows = image_.axis[0];
    const PaddedAxis& columns = image_.axis[1];
    const std::int64_t apart = rows.length * columns.length;
    for (std::int64_t c = channel0; c < channel1; ++c) {
      for (std::int64_t row = 0; row < rows.size; ++row) {
        const std::int64_t position = row + rows.before;
        PadRow(Row(from + (c * rows.size + row) * columns.size), columns, static_cast<std::size_t>(apart),
               padded_.data() + c * image_.plane() + position % rows.step * columns.step * apart +
                   position / rows.step * columns.length);
      }
    }
  }

  const T* data() const { return padded_.data(); }

 private:
  const T* Row(const Element* from) {
    if constexpr (std::is_same_v<Element, T>) {
      return from;
    } else {
      for (std::int64_t i = 0; i < image_.axis[1].size; ++i) row_.data()[i] = static_cast<T>(from[i]);
      return row_.data();
    }
  }

  PaddedImage image_;
  AlignedBuffer<T> padded_;
  AlignedBuffer<T> row_;
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

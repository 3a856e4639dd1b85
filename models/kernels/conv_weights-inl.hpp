// The weight gradient of a convolution, once per SIMD target: lanes are output channels, and k runs through
// all places of all images while the sums stay where they are. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_CONV_WEIGHTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_CONV_WEIGHTS_INL
#undef MANTISSA_KERNELS_CONV_WEIGHTS_INL
#else
#define MANTISSA_KERNELS_CONV_WEIGHTS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/conv_plan.hpp"
#include "models/kernels/fp32_chain-inl.hpp"
#include "models/kernels/pad_image-inl.hpp"
#include "models/kernels/transpose-inl.hpp"
#include "models/parallel/parallel.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A run is `taps` neighbouring columns of the kernel in one row of one input channel; a register tile holds
// the sums of some runs, each of which reads the image through one pointer.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_sums = 24;
// Few output channels do not fill a vector.
template <class T>
using HalfTag = hn::FixedTag<T, 32 / sizeof(T)>;
#else
constexpr std::size_t tile_sums = 12;
#endif
template <class T>
using FullTag = hn::ScalableTag<T>;
constexpr std::size_t most_pointers = 8;

constexpr std::size_t TileRuns(std::size_t taps) { return std::min(tile_sums / taps, most_pointers); }

// How the outputs of some rows of an image are walked.
struct Walk {
  std::size_t rows = 0, columns = 0;
  std::size_t row_step = 0, column_step = 0;  // in the padded image
};

// Adds rows of one image to the sums: [runs][taps][lanes]. gradient: [row][column][lanes].
template <class D, std::size_t taps, std::size_t runs, class T = hn::TFromD<D>>
HWY_NOINLINE void AddRows(const T* HWY_RESTRICT gradient, const T* HWY_RESTRICT image,
                          const std::int64_t* HWY_RESTRICT offset, const Walk& walk, T* HWY_RESTRICT sums) {
  const D d;
  using V = hn::VFromD<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[runs][taps];
  const T* in[runs];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < runs; ++r) {
    in[r] = image + offset[r];
#pragma GCC unroll 8
    for (std::size_t t = 0; t < taps; ++t) sum[r][t] = hn::LoadU(d, sums + (r * taps + t) * lanes);
  }
  for (std::size_t row = 0; row < walk.rows; ++row) {
    std::size_t at = row * walk.row_step;
    for (std::size_t column = 0; column < walk.columns; ++column, at += walk.column_step) {
      const V g = hn::LoadU(d, gradient);
      gradient += lanes;
#pragma GCC unroll 8
      for (std::size_t r = 0; r < runs; ++r) {
#pragma GCC unroll 8
        for (std::size_t t = 0; t < taps; ++t) sum[r][t] = Fused(d, hn::Set(d, in[r][at + t]), g, sum[r][t]);
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < runs; ++r) {
#pragma GCC unroll 8
    for (std::size_t t = 0; t < taps; ++t) hn::StoreU(sum[r][t], d, sums + (r * taps + t) * lanes);
  }
}

template <class T>
using AddFunction = void (*)(const T*, const T*, const std::int64_t*, const Walk&, T*);
template <class D, std::size_t taps, std::size_t... i>
AddFunction<hn::TFromD<D>> AddFor(std::size_t runs, std::index_sequence<i...> /*tile*/) {
  static constexpr AddFunction<hn::TFromD<D>> table[] = {AddRows<D, taps, i + 1>...};
  return table[runs - 1];
}

// The gradient of one group's weights. `write(output channel of the group, weight of that channel, sum)` is
// called once for each, from several threads.
// Sums are T. Where Total is not T, sums over some rows at a time are added up in it.
template <class Element, class T, class Total, class Write>
class WeightGradient {
 public:
  // g and x are those of the group in the first image; `zero` is what padding reads; `rows` are those of the
  // output that T can take before Total must.
  WeightGradient(const ConvShape& shape, const Element* g, const Element* x, T zero, std::int64_t rows,
                 const Write& write)
      : s_(shape),
        g_(g),
        x_(x),
        zero_(zero),
        rows_(rows),
        write_(write),
        image_(weight_gradient_image(shape)) {}

  void Run(int threads) const {
    if (s_.dilation[1] == 1 && s_.kernel[1] == 3) return RunWith<3>(threads);
    if (s_.dilation[1] == 1 && s_.kernel[1] == 5) return RunWith<5>(threads);
    return RunWith<1>(threads);
  }

 private:
  // Units of work are runs times vectors of output channels.
  template <std::int64_t taps>
  void RunWith(int threads) const {
    const std::int64_t runs = s_.in_group() * s_.kernel[0] * (s_.kernel[1] / taps);
    const auto full = static_cast<std::int64_t>(hn::Lanes(FullTag<T>()));
    const std::int64_t vectors = (s_.out_group() + full - 1) / full;
    parallel_ranges(vectors * runs, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end;) {
        const Part part{.channel0 = at / runs * full,
                        .channels = std::min(full, s_.out_group() - at / runs * full),
                        .run0 = at % runs,
                        .run1 = std::min(runs, at % runs + end - at)};
        RunVector<taps>(part);
        at += part.run1 - part.run0;
      }
    });
  }

  struct Part {
    std::int64_t channel0 = 0, channels = 0;
    std::int64_t run0 = 0, run1 = 0;
  };

  template <std::int64_t taps>
  void RunVector(const Part& part) const {
#if HWY_TARGET <= HWY_AVX3
    if (part.channels <= static_cast<std::int64_t>(hn::Lanes(HalfTag<T>()))) {
      RunPart<HalfTag<T>, taps>(part);
      return;
    }
#endif
    RunPart<FullTag<T>, taps>(part);
  }

  template <class D, std::int64_t taps>
  void RunPart(const Part& part) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
    const std::int64_t row_runs = s_.kernel[1] / taps;
    const std::int64_t channel_runs = s_.kernel[0] * row_runs;
    std::vector<std::int64_t> offset;
    for (std::int64_t run = part.run0; run < part.run1; ++run) {
      offset.push_back(image_.offset(run / channel_runs, run % channel_runs / row_runs * s_.dilation[0],
                                     run % row_runs * s_.dilation[1]));
    }
    const std::int64_t places = s_.out[0] * s_.out[1];
    const std::int64_t runs = part.run1 - part.run0;
    Padder<Element, T> image(image_, 0, zero_);
    AlignedBuffer<T> gradient(places * lanes);
    AlignedBuffer<T> sums(runs * taps * lanes);
    std::fill(gradient.span().begin(), gradient.span().end(), T{0});
    std::fill(sums.span().begin(), sums.span().end(), T{0});
    std::vector<Total> totals(std::is_same_v<T, Total> ? 0 : sums.size());
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      image.Pad(x_ + b * s_.in_channels * s_.in[0] * s_.in[1], part.run0 / channel_runs,
                (part.run1 - 1) / channel_runs + 1);
      Transpose(g_ + (b * s_.out_channels + part.channel0) * places, part.channels, places, lanes,
                gradient.data());
      for (std::int64_t row = 0; row < s_.out[0]; row += rows_) {
        AddTiles<D, taps>(gradient.data() + row * s_.out[1] * lanes,
                          image.data() + row * s_.stride[0] * image_.row_length(),
                          std::min(rows_, s_.out[0] - row), offset, sums.data());
        if constexpr (!std::is_same_v<T, Total>) {
          for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += sums.data()[i];
          std::fill(sums.span().begin(), sums.span().end(), T{0});
        }
      }
    }
    // Runs in their order are the weights of one output channel in theirs.
    for (std::int64_t i = 0; i < runs * taps; ++i) {
      for (std::int64_t c = 0; c < part.channels; ++c) {
        const std::int64_t from = i * lanes + c;
        write_(part.channel0 + c, part.run0 * taps + i, totals.empty() ? sums.data()[from] : totals[from]);
      }
    }
  }

  // Some rows of one image, tile after tile of nearly equal size.
  template <class D, std::int64_t taps>
  void AddTiles(const T* gradient, const T* image, std::int64_t rows, const std::vector<std::int64_t>& offset,
                T* sums) const {
    const Walk walk{static_cast<std::size_t>(rows), static_cast<std::size_t>(s_.out[1]),
                    static_cast<std::size_t>(s_.stride[0] * image_.row_length()),
                    static_cast<std::size_t>(s_.stride[1])};
    const std::size_t runs = offset.size();
    const std::size_t tiles = (runs + TileRuns(taps) - 1) / TileRuns(taps);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t first = runs * tile / tiles;
      const std::size_t count = runs * (tile + 1) / tiles - first;
      AddFor<D, taps>(count, std::make_index_sequence<TileRuns(taps)>())(
          gradient, image, offset.data() + first, walk, sums + first * taps * hn::Lanes(D()));
    }
  }

  const ConvShape& s_;
  const Element* g_;
  const Element* x_;
  T zero_;
  std::int64_t rows_;
  const Write& write_;
  PaddedImage image_;
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

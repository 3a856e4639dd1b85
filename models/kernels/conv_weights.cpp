#include <algorithm>
#include <utility>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/conv_passes.hpp"
#include "models/kernels/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/conv_weights.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/fp32_chain-inl.hpp"
#include "models/kernels/pad_image-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// Lanes are output channels. A run is `taps` neighbouring columns of the kernel in one row of one input
// channel; a register tile holds the sums of some runs, each of which reads the image through one pointer.
#if HWY_TARGET <= HWY_AVX3
using HalfTag = hn::FixedTag<float, 8>;
constexpr std::size_t tile_sums = 24;
#else
using HalfTag = hn::ScalableTag<float>;
constexpr std::size_t tile_sums = 12;
#endif
using FullTag = hn::ScalableTag<float>;
constexpr std::size_t most_pointers = 8;

constexpr std::size_t TileRuns(std::size_t taps) { return std::min(tile_sums / taps, most_pointers); }

// How the outputs of one image are walked.
struct Walk {
  std::size_t rows = 0, columns = 0;
  std::size_t row_step = 0, column_step = 0;  // in the padded image
};

// Adds one image to the sums: [runs][taps][lanes]. gradient: [row][column][lanes].
template <class D, std::size_t taps, std::size_t runs>
HWY_NOINLINE void AddImage(const float* HWY_RESTRICT gradient, const float* HWY_RESTRICT image,
                           const std::int64_t* HWY_RESTRICT offset, const Walk& walk,
                           float* HWY_RESTRICT sums) {
  const D d;
  using V = hn::VFromD<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[runs][taps];
  const float* in[runs];
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

using AddFunction = void (*)(const float*, const float*, const std::int64_t*, const Walk&, float*);
template <class D, std::size_t taps, std::size_t... i>
AddFunction AddFor(std::size_t runs, std::index_sequence<i...>) {
  static constexpr AddFunction table[] = {AddImage<D, taps, i + 1>...};
  return table[runs - 1];
}

// Output channels [first, first + lanes) of a gradient image [channel][place] as [place][lane]; lanes without
// a channel get zeros.
HWY_NOINLINE void Transpose(const float* HWY_RESTRICT g, std::size_t places, std::size_t channels,
                            std::size_t lanes, float* HWY_RESTRICT out) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t i = 0; i < places; ++i)
      out[i * lanes + lane] = lane < channels ? g[lane * places + i] : 0.0F;
  }
}

// Runs [run0, run1) of output channels [channel0, channel0 + channels) of one group, over the whole batch.
template <class D, std::size_t taps>
void WeightTiles(const ConvShape& s, std::int64_t group, std::int64_t channel0, std::int64_t channels,
                 std::int64_t run0, std::int64_t run1, const float* g, const float* x, float* dw) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const PaddedImage image = weight_gradient_image(s);
  const std::int64_t row_runs = s.kernel[1] / static_cast<std::int64_t>(taps);
  const std::int64_t channel_runs = s.kernel[0] * row_runs;
  std::vector<std::int64_t> offset;
  for (std::int64_t run = run0; run < run1; ++run) {
    offset.push_back(image.offset(run / channel_runs, run % channel_runs / row_runs * s.dilation[0],
                                  run % row_runs * s.dilation[1]));
  }
  const std::int64_t places = s.out[0] * s.out[1];
  const Walk walk{static_cast<std::size_t>(s.out[0]), static_cast<std::size_t>(s.out[1]),
                  static_cast<std::size_t>(s.stride[0] * image.row_length()),
                  static_cast<std::size_t>(s.stride[1])};
  const std::int64_t runs = run1 - run0;
  const std::int64_t most = TileRuns(taps);
  const std::int64_t tiles = (runs + most - 1) / most;
  AlignedBuffer<float> padded(image.elements());
  AlignedBuffer<float> gradient(places * lanes);
  AlignedBuffer<float> sums(runs * static_cast<std::int64_t>(taps) * lanes);
  std::fill(padded.span().begin(), padded.span().end(), 0.0F);
  std::fill(sums.span().begin(), sums.span().end(), 0.0F);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::int64_t in_plane = b * s.in_channels + group * s.in_group();
    const std::int64_t out_plane = b * s.out_channels + group * s.out_group() + channel0;
    PadImage(x + in_plane * s.in[0] * s.in[1], image, run0 / channel_runs, (run1 - 1) / channel_runs + 1,
             padded.data());
    Transpose(g + out_plane * places, places, channels, lanes, gradient.data());
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t first = runs * tile / tiles;
      const std::int64_t count = runs * (tile + 1) / tiles - first;
      AddFor<D, taps>(count, std::make_index_sequence<TileRuns(taps)>())(
          gradient.data(), padded.data(), offset.data() + first, walk,
          sums.data() + first * static_cast<std::int64_t>(taps) * lanes);
    }
  }
  // Runs in their order are the weights of one output channel in theirs.
  const std::int64_t weights = s.in_group() * s.kernel[0] * s.kernel[1];
  for (std::int64_t i = 0; i < runs * static_cast<std::int64_t>(taps); ++i) {
    float* from = sums.data() + i * lanes;
    hn::StoreU(Finished(d, hn::LoadU(d, from)), d, from);
    const std::int64_t place = run0 * static_cast<std::int64_t>(taps) + i;
    for (std::int64_t c = 0; c < channels; ++c)
      dw[(group * s.out_group() + channel0 + c) * weights + place] = from[c];
  }
}

template <std::size_t taps>
void WeightBlocks(const ConvShape& s, std::int64_t group, std::int64_t begin, std::int64_t end,
                  const float* g, const float* x, float* dw) {
  const std::int64_t runs = s.in_group() * s.kernel[0] * (s.kernel[1] / static_cast<std::int64_t>(taps));
  const auto full = static_cast<std::int64_t>(hn::Lanes(FullTag()));
  const auto half = static_cast<std::int64_t>(hn::Lanes(HalfTag()));
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t channel0 = at / runs * full;
    const std::int64_t run0 = at % runs;
    const std::int64_t run1 = std::min(runs, run0 + end - at);
    const std::int64_t channels = std::min(full, s.out_group() - channel0);
    if (channels <= half) {
      WeightTiles<HalfTag, taps>(s, group, channel0, channels, run0, run1, g, x, dw);
    } else {
      WeightTiles<FullTag, taps>(s, group, channel0, channels, run0, run1, g, x, dw);
    }
    at += run1 - run0;
  }
}

// How many neighbouring kernel columns share a pointer.
std::int64_t RunTaps(const ConvShape& s) {
  const bool run = s.dilation[1] == 1 && (s.kernel[1] == 3 || s.kernel[1] == 5);
  return run ? s.kernel[1] : 1;
}

// Vectors of output channels times runs.
std::int64_t WeightUnits(const ConvShape& s) {
  const auto full = static_cast<std::int64_t>(hn::Lanes(FullTag()));
  return (s.out_group() + full - 1) / full * (s.in_group() * s.kernel[0] * (s.kernel[1] / RunTaps(s)));
}

// Units [begin, end).
void WeightGradient(const ConvShape& s, std::int64_t group, std::int64_t begin, std::int64_t end,
                    const float* g, const float* x, float* dw) {
  switch (RunTaps(s)) {
    case 3:
      return WeightBlocks<3>(s, group, begin, end, g, x, dw);
    case 5:
      return WeightBlocks<5>(s, group, begin, end, g, x, dw);
    default:
      return WeightBlocks<1>(s, group, begin, end, g, x, dw);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(WeightUnits);
HWY_EXPORT(WeightGradient);

void accumulate_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                                std::span<float> dw, int threads) {
  const auto block = HWY_DYNAMIC_DISPATCH(WeightGradient);
  const std::int64_t units = HWY_DYNAMIC_DISPATCH(WeightUnits)(shape);
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    parallel_ranges(units, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      block(shape, group, begin, end, g.data(), x.data(), dw.data());
    });
  }
}

}  // namespace mantissa::kernels
#endif

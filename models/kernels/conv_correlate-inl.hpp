// Forward pass and input gradient of a convolution, once per SIMD target: lanes are neighbouring outputs.
// (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_CONV_CORRELATE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_CONV_CORRELATE_INL
#undef MANTISSA_KERNELS_CONV_CORRELATE_INL
#else
#define MANTISSA_KERNELS_CONV_CORRELATE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/conv_plan.hpp"
#include "models/kernels/copy_row-inl.hpp"
#include "models/kernels/fp32_chain-inl.hpp"
#include "models/kernels/pad_image-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A register tile of output channels x vectors of neighbouring outputs.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_channels = 8;
constexpr std::size_t tile_vectors = 2;
#else
constexpr std::size_t tile_channels = 4;
constexpr std::size_t tile_vectors = 3;
#endif

// Output channels in blocks of nearly equal size, none larger than a tile.
struct ChannelBlock {
  std::size_t first = 0;
  std::size_t count = 0;
};
inline std::vector<ChannelBlock> ChannelBlocks(std::size_t channels) {
  const std::size_t blocks = (channels + tile_channels - 1) / tile_channels;
  std::vector<ChannelBlock> result;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t first = channels * i / blocks;
    result.push_back({first, channels * (i + 1) / blocks - first});
  }
  return result;
}

// `lanes` outputs of `channels` output channels. weights: [tap][channels]; out: channels `stride` apart, with
// room for whole tiles. An Ending turns sums, of type Ending::Sum, into outputs: Output(d, channel of the
// block, lane, sum).
template <class Ending, std::size_t channels>
HWY_NOINLINE void Correlate(const typename Ending::Sum* HWY_RESTRICT image, const std::vector<ConvTap>& taps,
                            const typename Ending::Sum* HWY_RESTRICT weights, std::size_t lanes,
                            const Ending& ending, float* HWY_RESTRICT out, std::size_t stride) {
  using T = typename Ending::Sum;
  const hn::ScalableTag<T> d;
  const hn::Rebind<float, decltype(d)> df;
  using V = hn::VFromD<decltype(d)>;
  const std::size_t width = hn::Lanes(d);
  const ConvTap* HWY_RESTRICT tap = taps.data();
  const std::size_t depth = taps.size();
  for (std::size_t lane = 0; lane < lanes; lane += tile_vectors * width) {
    V sum[channels][tile_vectors];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < channels; ++c) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < tile_vectors; ++v) sum[c][v] = hn::Zero(d);
    }
    const T* HWY_RESTRICT here = image + lane;
    const T* HWY_RESTRICT weight = weights;
    for (std::size_t k = 0; k < depth; ++k, weight += channels) {
      const T* HWY_RESTRICT in = here + tap[k].offset;
      V x[tile_vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < tile_vectors; ++v) x[v] = hn::LoadU(d, in + v * width);
#pragma GCC unroll 8
      for (std::size_t c = 0; c < channels; ++c) {
        const V w = hn::Set(d, weight[c]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < tile_vectors; ++v) sum[c][v] = Fused(d, w, x[v], sum[c][v]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < channels; ++c) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < tile_vectors; ++v) {
        const std::size_t at = lane + v * width;
        hn::StoreU(ending.Output(d, c, at, sum[c][v]), df, out + c * stride + at);
      }
    }
  }
}

template <class Ending>
using CorrelateFunction = void (*)(const typename Ending::Sum*, const std::vector<ConvTap>&,
                                   const typename Ending::Sum*, std::size_t, const Ending&, float*,
                                   std::size_t);
template <class Ending, std::size_t... i>
CorrelateFunction<Ending> CorrelateFor(std::size_t channels, std::index_sequence<i...> /*tile*/) {
  static constexpr CorrelateFunction<Ending> table[] = {Correlate<Ending, i + 1>...};
  return table[channels - 1];
}

// Of every group, part and block of channels: [tap][channel of the block].
template <class Element, class T>
AlignedBuffer<T> PackWeights(const ConvPlan& plan, std::int64_t groups, const Element* w,
                             std::size_t group_weights) {
  AlignedBuffer<T> packed(groups * plan.group_taps() * plan.out_channels);
  T* out = packed.data();
  for (std::int64_t group = 0; group < groups; ++group, w += group_weights) {
    for (const ConvPart& part : plan.parts) {
      for (const ChannelBlock& block : ChannelBlocks(plan.out_channels)) {
        for (const ConvTap& tap : part.taps) {
          for (std::size_t c = 0; c < block.count; ++c) {
            *out++ = static_cast<T>(
                w[static_cast<std::int64_t>(block.first + c) * plan.weight_stride + tap.weight]);
          }
        }
      }
    }
  }
  return packed;
}

// Rows of two parts, the first's elements at even places, into one of `count` elements; `scratch` has room
// for whole vectors of both.
HWY_INLINE void InterleaveRow(const float* HWY_RESTRICT even, const float* HWY_RESTRICT odd,
                              std::size_t count, float* HWY_RESTRICT scratch, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; 2 * i < count; i += lanes)
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, scratch + 2 * i);
  CopyRow(scratch, out, count);
}

// One thread's work on image after image. Endings make an Ending for a part: Prepare(slot, group, part,
// padded image) once, then For(slot, block of channels).
template <class Element, class Endings>
class Correlator {
 public:
  using T = typename Endings::Ending::Sum;

  Correlator(const ConvPlan& plan, Endings endings, T zero)
      : plan_(plan),
        endings_(std::move(endings)),
        blocks_(ChannelBlocks(plan.out_channels)),
        stride_(plan.lanes + Room()),
        image_(plan.image, stride_, zero),
        results_(plan.out_step[1] * tile_channels * stride_),
        scratch_(plan.out[1] + Room()) {}

  // What lies beyond the last lane of a buffer, so that whole tiles and vectors of either type fit.
  static std::size_t Room() { return 2 * tile_vectors * hn::Lanes(hn::ScalableTag<float>()); }

  // One image of a group. weights: of all its parts, as PackWeights leaves them.
  void Run(const Element* source, const T* weights, std::size_t group, float* out) {
    image_.Pad(source, 0, plan_.image.channels);
    const std::size_t columns = plan_.out_step[1];
    for (std::size_t part = 0; part < plan_.parts.size(); part += columns) {
      for (std::size_t i = 0; i < columns; ++i) endings_.Prepare(i, group, part + i, image_.data());
      for (const ChannelBlock& block : blocks_) {
        const T* panel = weights;
        for (std::size_t i = 0; i < columns; ++i) {
          const ConvPart& one = plan_.parts[part + i];
          CorrelateFor<typename Endings::Ending>(block.count, std::make_index_sequence<tile_channels>())(
              image_.data(), one.taps, panel + block.first * one.taps.size(), plan_.lanes_of(one),
              endings_.For(i, block.first), Results(i), stride_);
          panel += one.taps.size() * plan_.out_channels;
        }
        WriteRows(plan_.parts[part], block, out);
      }
      for (std::size_t i = 0; i < columns; ++i)
        weights += plan_.parts[part + i].taps.size() * plan_.out_channels;
    }
  }

 private:
  float* Results(std::size_t slot) { return results_.data() + slot * tile_channels * stride_; }

  // The parts of one row phase, whose columns take turns, to their places. All have the first one's rows.
  void WriteRows(const ConvPart& first, const ChannelBlock& block, float* out) {
    const std::size_t columns = plan_.out_step[1];
    const std::size_t width = plan_.out[1];
    for (std::size_t c = 0; c < block.count; ++c) {
      for (std::int64_t i = 0; i < first.count[0]; ++i) {
        const std::size_t from = c * stride_ + i * plan_.image.row_length();
        float* to = out + ((block.first + c) * plan_.out[0] + first.first[0] + i * plan_.out_step[0]) * width;
        if (columns == 1) {
          CopyRow(Results(0) + from, to, width);
        } else if (columns == 2) {
          InterleaveRow(Results(0) + from, Results(1) + from, width, scratch_.data(), to);
        } else {
          for (std::size_t j = 0; j < width; ++j) to[j] = Results(j % columns)[from + j / columns];
        }
      }
    }
  }

  const ConvPlan& plan_;
  Endings endings_;
  std::vector<ChannelBlock> blocks_;
  std::size_t stride_;  // from one channel's results to the next's
  Padder<Element, T> image_;
  AlignedBuffer<float> results_;  // [column phase][channel of a block][lane]
  AlignedBuffer<float> scratch_;
};

// Images times groups [begin, end).
template <class Element, class Endings>
void CorrelateImages(Correlator<Element, Endings>& correlator, const ConvPlan& plan, std::int64_t groups,
                     const Element* source, const typename Endings::Ending::Sum* weights, std::int64_t begin,
                     std::int64_t end, float* out) {
  const std::int64_t source_size = plan.image.channels * plan.image.axis[0].size * plan.image.axis[1].size;
  const std::int64_t out_size = plan.out_channels * plan.out[0] * plan.out[1];
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t group = i % groups;
    correlator.Run(source + i * source_size, weights + group * plan.group_taps() * plan.out_channels, group,
                   out + i * out_size);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

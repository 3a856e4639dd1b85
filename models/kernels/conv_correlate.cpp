#include <algorithm>
#include <utility>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/conv_passes.hpp"
#include "models/kernels/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/conv_correlate.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/fp32_chain-inl.hpp"
#include "models/kernels/pad_image-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// A register tile of output channels x vectors of neighbouring outputs.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_channels = 8;
constexpr std::size_t tile_vectors = 2;
#else
constexpr std::size_t tile_channels = 4;
constexpr std::size_t tile_vectors = 2;
#endif

// Output channels in blocks of nearly equal size, none larger than a tile.
struct ChannelBlock {
  std::size_t first = 0;
  std::size_t count = 0;
};
std::vector<ChannelBlock> ChannelBlocks(std::size_t channels) {
  const std::size_t blocks = (channels + tile_channels - 1) / tile_channels;
  std::vector<ChannelBlock> result;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t first = channels * i / blocks;
    result.push_back({first, channels * (i + 1) / blocks - first});
  }
  return result;
}

// `lanes` outputs of `channels` output channels. weights: [tap][channels]; out: channels `stride` apart,
// which is lanes rounded up to whole tiles.
template <std::size_t channels>
HWY_NOINLINE void Correlate(const float* HWY_RESTRICT image, const ConvTap* HWY_RESTRICT taps,
                            std::size_t depth, const float* HWY_RESTRICT weights, std::size_t lanes,
                            float* HWY_RESTRICT out, std::size_t stride) {
  const hn::ScalableTag<float> d;
  using V = hn::VFromD<decltype(d)>;
  const std::size_t width = hn::Lanes(d);
  for (std::size_t lane = 0; lane < lanes; lane += tile_vectors * width) {
    V sum[channels][tile_vectors];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < channels; ++c) {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < tile_vectors; ++v) sum[c][v] = hn::Zero(d);
    }
    const float* HWY_RESTRICT here = image + lane;
    const float* HWY_RESTRICT weight = weights;
    for (std::size_t k = 0; k < depth; ++k, weight += channels) {
      const float* HWY_RESTRICT in = here + taps[k].offset;
      const V x0 = hn::LoadU(d, in);
      const V x1 = hn::LoadU(d, in + width);
#pragma GCC unroll 8
      for (std::size_t c = 0; c < channels; ++c) {
        const V w = hn::Set(d, weight[c]);
        sum[c][0] = Fused(d, w, x0, sum[c][0]);
        sum[c][1] = Fused(d, w, x1, sum[c][1]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < channels; ++c) {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < tile_vectors; ++v)
        hn::StoreU(Finished(d, sum[c][v]), d, out + c * stride + lane + v * width);
    }
  }
}

using CorrelateFunction = void (*)(const float*, const ConvTap*, std::size_t, const float*, std::size_t,
                                   float*, std::size_t);
template <std::size_t... i>
CorrelateFunction CorrelateFor(std::size_t channels, std::index_sequence<i...>) {
  static constexpr CorrelateFunction table[] = {Correlate<i + 1>...};
  return table[channels - 1];
}

// [block][tap][channel of the block]
void PackWeights(const ConvPlan& plan, const ConvPart& part, const float* w, float* out) {
  for (const ChannelBlock& block : ChannelBlocks(plan.out_channels)) {
    for (const ConvTap& tap : part.taps) {
      for (std::size_t c = 0; c < block.count; ++c)
        *out++ = w[static_cast<std::int64_t>(block.first + c) * plan.weight_stride + tap.weight];
    }
  }
}

// Rows `count` long of two parts, the first's elements at even places, into one; `scratch` has room for both
// and a vector more.
HWY_INLINE void InterleaveRow(const float* HWY_RESTRICT even, const float* HWY_RESTRICT odd,
                              std::size_t count, float* HWY_RESTRICT scratch, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; 2 * i < count; i += lanes)
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, scratch + 2 * i);
  CopyRow(scratch, out, count);
}

class Correlator {
 public:
  explicit Correlator(const ConvPlan& plan)
      : plan_(plan),
        blocks_(ChannelBlocks(plan.out_channels)),
        tile_(tile_vectors * hn::Lanes(hn::ScalableTag<float>())),
        stride_((plan.lanes + tile_ - 1) / tile_ * tile_),
        image_(plan.image.elements() + stride_ + tile_),
        sums_(plan.out_step[1] * tile_channels * (stride_ + tile_)),
        scratch_(plan.out[1] + 2 * tile_) {
    // Padding, holes and the lanes after the last stay zero.
    std::fill(image_.span().begin(), image_.span().end(), 0.0F);
  }

  // One image and group. weights: of every part, as PackWeights leaves them.
  void Run(const float* source, const float* weights, float* out) {
    PadImage(source, plan_.image, 0, plan_.image.channels, image_.data());
    const std::size_t columns = plan_.out_step[1];
    for (std::size_t part = 0; part < plan_.parts.size(); part += columns) {
      for (const ChannelBlock& block : blocks_) {
        const float* panel = weights;
        for (std::size_t i = 0; i < columns; ++i) {
          const ConvPart& one = plan_.parts[part + i];
          const std::size_t depth = one.taps.size();
          CorrelateFor(block.count, std::make_index_sequence<tile_channels>())(
              image_.data(), one.taps.data(), depth, panel + block.first * depth, Lanes(one), Sums(i),
              stride_);
          panel += depth * plan_.out_channels;
        }
        WriteRows(part, block, out);
      }
      for (std::size_t i = 0; i < columns; ++i)
        weights += plan_.parts[part + i].taps.size() * plan_.out_channels;
    }
  }

 private:
  std::size_t Lanes(const ConvPart& part) const {
    if (part.count[0] == 0 || part.count[1] == 0) return 0;
    return (part.count[0] - 1) * plan_.image.row_length() + part.count[1];
  }
  float* Sums(std::size_t part) { return sums_.data() + part * tile_channels * (stride_ + tile_); }

  // The parts of one row phase, whose columns take turns, to their places.
  void WriteRows(std::size_t part, const ChannelBlock& block, float* out) {
    const ConvPart& one = plan_.parts[part];
    const std::size_t columns = plan_.out_step[1];
    const std::size_t width = plan_.out[1];
    for (std::size_t c = 0; c < block.count; ++c) {
      for (std::int64_t i = 0; i < one.count[0]; ++i) {
        const std::size_t from = c * stride_ + i * plan_.image.row_length();
        float* to = out + ((block.first + c) * plan_.out[0] + one.first[0] + i * plan_.out_step[0]) * width;
        if (columns == 1) {
          CopyRow(Sums(0) + from, to, width);
        } else if (columns == 2) {
          InterleaveRow(Sums(0) + from, Sums(1) + from, width, scratch_.data(), to);
        } else {
          for (std::size_t j = 0; j < width; ++j) to[j] = Sums(j % columns)[from + j / columns];
        }
      }
    }
  }

  const ConvPlan& plan_;
  std::vector<ChannelBlock> blocks_;
  std::size_t tile_;    // lanes of a register tile
  std::size_t stride_;  // from one channel's sums to the next's
  AlignedBuffer<float> image_;
  AlignedBuffer<float> sums_;  // [column phase][channel of a block][lane]
  AlignedBuffer<float> scratch_;
};

// Images times groups [begin, end).
void CorrelateImages(const ConvPlan& plan, std::int64_t groups, const float* source, const float* weights,
                     std::size_t group_weights, std::int64_t begin, std::int64_t end, float* out) {
  Correlator correlator(plan);
  const std::int64_t source_size = plan.image.channels * plan.image.axis[0].size * plan.image.axis[1].size;
  const std::int64_t out_size = plan.out_channels * plan.out[0] * plan.out[1];
  for (std::int64_t i = begin; i < end; ++i)
    correlator.Run(source + i * source_size, weights + i % groups * group_weights, out + i * out_size);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(PackWeights);
HWY_EXPORT(CorrelateImages);

void correlate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, std::span<const float> source,
               std::span<const float> w, std::span<float> out, int threads) {
  std::size_t group_weights = 0;
  for (const ConvPart& part : plan.parts) group_weights += part.taps.size() * plan.out_channels;
  AlignedBuffer<float> weights(groups * group_weights);
  const auto pack = HWY_DYNAMIC_DISPATCH(PackWeights);
  float* next = weights.data();
  for (std::int64_t group = 0; group < groups; ++group) {
    for (const ConvPart& part : plan.parts) {
      pack(plan, part, w.data() + group * (w.size() / groups), next);
      next += part.taps.size() * plan.out_channels;
    }
  }
  const auto images = HWY_DYNAMIC_DISPATCH(CorrelateImages);
  parallel_ranges(batch * groups, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    images(plan, groups, source.data(), weights.data(), group_weights, begin, end, out.data());
  });
}

}  // namespace mantissa::kernels
#endif

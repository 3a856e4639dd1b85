#include "models/kernels/channel_sums.hpp"

#include <algorithm>
#include <cmath>

#include "models/mac/arithmetic.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/channel_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/float_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A lane is a channel. Wider vectors would not be faster: the chain of additions is what takes the time.
using D = hn::CappedTag<float, 8>;
using DI = hn::RebindToSigned<D>;
using V = hn::VFromD<D>;
using VI = hn::VFromD<DI>;
constexpr std::size_t channel_lanes = hn::MaxLanes(D());

// One value per channel of the block, the last channel's in lanes that have none.
HWY_INLINE V PerChannel(std::span<const float> values, std::int64_t first, std::int64_t count) {
  alignas(64) float lane[channel_lanes];
  for (std::size_t i = 0; i < channel_lanes; ++i) {
    lane[i] = values[first + std::min(static_cast<std::int64_t>(i), count - 1)];
  }
  return hn::Load(D(), lane);
}

// Calls step(vectors of the same position of the stream, one per tensor) for each position in order.
template <class Step, class... Tensor>
HWY_INLINE void ForPositions(const NormShape& shape, std::int64_t first, std::int64_t count, Step& step,
                             const Tensor*... tensor) {
  const D d;
  constexpr auto lanes = static_cast<std::int64_t>(channel_lanes);
  const std::int64_t last = count - 1;
  const auto at = [&](const float* of, std::int64_t b, std::int64_t lane)
                      HWY_ATTR { return of + shape.run_begin(b, first + std::min(lane, last)); };
  struct Block {
    V position[channel_lanes];
  };
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    std::int64_t s = 0;
    for (; s + lanes <= shape.spatial; s += lanes) {
      const auto whole = [&](const float* of) HWY_ATTR {
        Block block;
        for (std::int64_t i = 0; i < lanes; ++i) block.position[i] = hn::LoadU(d, at(of, b, i) + s);
        Transpose(d, block.position);
        return block;
      };
      [&](const auto&... block) HWY_ATTR {
        for (std::int64_t i = 0; i < lanes; ++i) step(block.position[i]...);
      }(whole(tensor)...);
    }
    const std::int64_t left = shape.spatial - s;
    if (left == 0) continue;
    const auto part = [&](const float* of) HWY_ATTR {
      Block block;
      for (std::int64_t i = 0; i < lanes; ++i) block.position[i] = LoadFirst(d, at(of, b, i) + s, left);
      Transpose(d, block.position);
      return block;
    };
    [&](const auto&... block) HWY_ATTR {
      for (std::int64_t i = 0; i < left; ++i) step(block.position[i]...);
    }(part(tensor)...);
  }
}

// Where the parts of the channels end.
struct PartEnds {
  std::int64_t length;
  std::int64_t left;
  explicit PartEnds(std::int64_t part_length) : length(part_length), left(part_length) {}
  // Of the element that has been added.
  HWY_INLINE bool Next() {
    if (--left != 0) return false;
    left = length;
    return true;
  }
};

// The sums of a part go to those of the parts before it.
HWY_INLINE void EndPart(V& total, V& sum) {
  total = hn::Add(total, sum);
  sum = hn::Zero(D());
}

struct SumStep {
  PartEnds ends;
  V sum, total;
  explicit SumStep(std::int64_t part_length) : ends(part_length) { sum = total = hn::Zero(D()); }
  HWY_INLINE void operator()(V x) {
    sum = hn::Add(sum, x);
    if (ends.Next()) EndPart(total, sum);
  }
};

struct SquareStep {
  SumStep sum;
  V mean;
  SquareStep(std::int64_t part_length, V of_channels) : sum(part_length), mean(of_channels) {}
  HWY_INLINE void operator()(V x) {
    const V centred = hn::Sub(x, mean);
    sum(hn::Mul(centred, centred));
  }
};

struct GradientStep {
  PartEnds ends;
  V mean, inv, gamma;
  V sum_g, sum_g_xhat, sum_h, sum_h_xhat;
  V total_g, total_g_xhat, total_h, total_h_xhat;
  GradientStep(std::int64_t part_length, const ChannelScales& scales, std::int64_t first, std::int64_t count)
      : ends(part_length),
        mean(PerChannel(scales.mean, first, count)),
        inv(PerChannel(scales.inv, first, count)),
        gamma(PerChannel(scales.gamma, first, count)) {
    sum_g = sum_g_xhat = sum_h = sum_h_xhat = hn::Zero(D());
    total_g = total_g_xhat = total_h = total_h_xhat = hn::Zero(D());
  }
  HWY_INLINE void operator()(V x, V g) {
    const V xhat = hn::Mul(hn::Sub(x, mean), inv);
    const V h = hn::Mul(gamma, g);
    sum_g = hn::Add(sum_g, g);
    sum_g_xhat = hn::Add(sum_g_xhat, hn::Mul(g, xhat));
    sum_h = hn::Add(sum_h, h);
    sum_h_xhat = hn::Add(sum_h_xhat, hn::Mul(h, xhat));
    if (!ends.Next()) return;
    EndPart(total_g, sum_g);
    EndPart(total_g_xhat, sum_g_xhat);
    EndPart(total_h, sum_h);
    EndPart(total_h_xhat, sum_h_xhat);
  }
};

// The registers of a chunk start at its first element and move on a compare that is true (ARITHMETIC.md 8).
struct ExtremeStep {
  std::int64_t chunk_length;
  PartEnds ends;
  std::int64_t count;
  ChannelExtremes* out;

  std::int64_t chunk_begin = 0;
  std::int64_t left = 0;
  V sum, maxima, minima, nan, highest, lowest;
  V total_sum, total_maxima, total_minima;
  VI index, at_highest, at_lowest;  // into the chunk

  ExtremeStep(const Stretches& lengths, std::int64_t channels, ChannelExtremes* extremes)
      : chunk_length(lengths.chunk), ends(lengths.part), count(channels), out(extremes) {
    sum = maxima = minima = nan = highest = lowest = hn::Zero(D());
    total_sum = total_maxima = total_minima = hn::Zero(D());
    index = at_highest = at_lowest = hn::Zero(DI());
  }

  HWY_INLINE void operator()(V x) {
    const DI di;
    if (left == 0) {
      highest = lowest = x;
      index = at_highest = at_lowest = hn::Zero(di);
      left = chunk_length;
    }
    const auto above = hn::Gt(x, highest);
    const auto below = hn::Lt(x, lowest);
    highest = hn::IfThenElse(above, x, highest);
    lowest = hn::IfThenElse(below, x, lowest);
    at_highest = hn::IfThenElse(hn::RebindMask(di, above), index, at_highest);
    at_lowest = hn::IfThenElse(hn::RebindMask(di, below), index, at_lowest);
    nan = hn::IfThenElse(hn::IsNaN(x), x, nan);
    sum = hn::Add(sum, x);
    index = hn::Add(index, hn::Set(di, 1));
    if (--left == 0) EndChunk();
    if (!ends.Next()) return;
    EndPart(total_sum, sum);
    EndPart(total_maxima, maxima);
    EndPart(total_minima, minima);
  }

  HWY_NOINLINE void EndChunk() {
    maxima = hn::Add(maxima, highest);
    minima = hn::Add(minima, lowest);
    alignas(64) std::int32_t high[channel_lanes];
    alignas(64) std::int32_t low[channel_lanes];
    hn::Store(at_highest, DI(), high);
    hn::Store(at_lowest, DI(), low);
    for (std::int64_t i = 0; i < count; ++i) {
      out[i].argmax.push_back(chunk_begin + high[i]);
      out[i].argmin.push_back(chunk_begin + low[i]);
    }
    chunk_begin += chunk_length;
  }
};

struct LaneValues {
  alignas(64) float value[channel_lanes];
  explicit LaneValues(V x) { hn::Store(Canonical(x), D(), value); }
};

std::int64_t ChannelLanes() { return channel_lanes; }

void SumBlock(const float* x, const NormShape& shape, std::int64_t part_length, std::int64_t first,
              std::int64_t count, float* sums) {
  SumStep step(part_length);
  ForPositions(shape, first, count, step, x);
  std::copy_n(LaneValues(step.total).value, count, sums);
}

void SquaresBlock(const float* x, const NormShape& shape, std::int64_t part_length,
                  std::span<const float> mean, std::int64_t first, std::int64_t count, float* squares) {
  SquareStep step(part_length, PerChannel(mean, first, count));
  ForPositions(shape, first, count, step, x);
  std::copy_n(LaneValues(step.sum.total).value, count, squares);
}

void GradientSumsBlock(const float* x, const float* g, const NormShape& shape, std::int64_t part_length,
                       const ChannelScales& scales, std::int64_t first, std::int64_t count,
                       GradientSums* sums) {
  GradientStep step(part_length, scales, first, count);
  ForPositions(shape, first, count, step, x, g);
  const LaneValues sum_g(step.total_g);
  const LaneValues sum_g_xhat(step.total_g_xhat);
  const LaneValues sum_h(step.total_h);
  const LaneValues sum_h_xhat(step.total_h_xhat);
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] = {sum_g.value[i], sum_g_xhat.value[i], sum_h.value[i], sum_h_xhat.value[i]};
  }
}

void ExtremesBlock(const float* x, const NormShape& shape, const Stretches& lengths, std::int64_t first,
                   std::int64_t count, ChannelExtremes* extremes) {
  ExtremeStep step(lengths, count, extremes);
  ForPositions(shape, first, count, step, x);
  const LaneValues sum(step.total_sum);
  const LaneValues maxima(step.total_maxima);
  const LaneValues minima(step.total_minima);
  const LaneValues nan(step.nan);
  for (std::int64_t i = 0; i < count; ++i) {
    extremes[i].sum = sum.value[i];
    extremes[i].maxima = maxima.value[i];
    extremes[i].minima = minima.value[i];
    extremes[i].has_nan = std::isnan(nan.value[i]);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(ChannelLanes);
HWY_EXPORT(SumBlock);
HWY_EXPORT(SquaresBlock);
HWY_EXPORT(GradientSumsBlock);
HWY_EXPORT(ExtremesBlock);

// Calls body(first channel, channels) for blocks of channels that fit a vector.
template <class Body>
void for_channel_blocks(const NormShape& shape, int threads, const Body& body) {
  const std::int64_t lanes = HWY_DYNAMIC_DISPATCH(ChannelLanes)();
  parallel_ranges(shape.channels, lanes, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += lanes) body(first, std::min(lanes, end - first));
  });
}

}  // namespace

void channel_means(std::span<const float> x, const NormShape& shape, std::int64_t part_length,
                   std::span<float> mean, int threads) {
  const auto block = HWY_DYNAMIC_DISPATCH(SumBlock);
  for_channel_blocks(shape, threads, [&](std::int64_t first, std::int64_t count) {
    block(x.data(), shape, part_length, first, count, mean.data() + first);
  });
  const float reciprocal = reciprocal_of(shape.per_channel());
  for (float& each : mean) each = f32::mul(each, reciprocal);
}

void channel_squares(std::span<const float> x, const NormShape& shape, std::int64_t part_length,
                     std::span<const float> mean, std::span<float> squares, int threads) {
  const auto block = HWY_DYNAMIC_DISPATCH(SquaresBlock);
  for_channel_blocks(shape, threads, [&](std::int64_t first, std::int64_t count) {
    block(x.data(), shape, part_length, mean, first, count, squares.data() + first);
  });
}

void channel_gradient_sums(std::span<const float> x, std::span<const float> g, const NormShape& shape,
                           std::int64_t part_length, const ChannelScales& scales,
                           std::span<GradientSums> sums, int threads) {
  const auto block = HWY_DYNAMIC_DISPATCH(GradientSumsBlock);
  for_channel_blocks(shape, threads, [&](std::int64_t first, std::int64_t count) {
    block(x.data(), g.data(), shape, part_length, scales, first, count, sums.data() + first);
  });
}

std::vector<ChannelExtremes> channel_extremes(std::span<const float> x, const NormShape& shape,
                                              const Stretches& lengths, int threads) {
  std::vector<ChannelExtremes> extremes(shape.channels);
  const auto block = HWY_DYNAMIC_DISPATCH(ExtremesBlock);
  for_channel_blocks(shape, threads, [&](std::int64_t first, std::int64_t count) {
    block(x.data(), shape, lengths, first, count, extremes.data() + first);
  });
  return extremes;
}

}  // namespace mantissa::kernels
#endif

// What both batch norms collect over the channels of a tensor, many channels at once. A channel's sums run
// strictly in stream order (ARITHMETIC.md 8), so it is channels that stand side by side in a vector and that
// threads share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/norm/channel.hpp"
#include "models/norm/norm_shape.hpp"

namespace mantissa::kernels {

// Lengths must fit the shape: callers have checked them. Results have one element per channel.

// mean and sum((x - mean)^2), as in batch_norm_forward(), in parts of so many elements.
void channel_means(std::span<const float> x, const NormShape& shape, std::int64_t part_length,
                   std::span<float> mean, int threads);
void channel_squares(std::span<const float> x, const NormShape& shape, std::int64_t part_length,
                     std::span<const float> mean, std::span<float> squares, int threads);

// What gradient_sums() gives for each channel.
struct ChannelScales {
  std::span<const float> mean;
  std::span<const float> inv;
  std::span<const float> gamma;
};
void channel_gradient_sums(std::span<const float> x, std::span<const float> g, const NormShape& shape,
                           std::int64_t part_length, const ChannelScales& scales,
                           std::span<GradientSums> sums, int threads);

// The first pass of Range BN, up to the range.
struct ChannelExtremes {
  float sum = 0.0F;
  float maxima = 0.0F;  // sum of the chunks' maxima
  float minima = 0.0F;
  bool has_nan = false;
  std::vector<std::int64_t> argmax;  // one per chunk, an index into the channel
  std::vector<std::int64_t> argmin;
};
// Elements of a chunk, below 2^31, and of a part. Both divide the channel.
struct Stretches {
  std::int64_t chunk = 0;
  std::int64_t part = 0;
};
std::vector<ChannelExtremes> channel_extremes(std::span<const float> x, const NormShape& shape,
                                              const Stretches& lengths, int threads);

}  // namespace mantissa::kernels

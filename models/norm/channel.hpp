// What both batch norms share: one channel streamed in order, every FP32 operation rounded on its own
// (ARITHMETIC.md 8).
#pragma once

#include <cstdint>
#include <span>

namespace mantissa {

// Added to the scale (Range BN) or to the variance (standard) so that a constant channel does not divide by
// 0.
inline constexpr float norm_epsilon = 1e-5F;

// The register fp32(1/count), correctly rounded. Throws std::invalid_argument for a count below 1.
float reciprocal_of(std::int64_t count);

// Elements of each of the parts into which the sums over a channel of n elements are cut. Throws
// std::invalid_argument unless they are equal and, where there are several, of at least 2 elements.
std::int64_t part_length(std::int64_t n, std::int64_t parts);

float channel_mean(std::span<const float> x, std::int64_t parts = 1);

// xhat = (x - mean) * inv
float normalised(float x, float mean, float inv);

// y_i = fma(xhat_i, gamma, beta)
void normalise(std::span<const float> x, float mean, float inv, float gamma, float beta, std::span<float> y);

// What the first pass over the output gradient g collects, with h = gamma * g: of a part, or of all.
struct GradientSums {
  float g = 0.0F;
  float g_xhat = 0.0F;
  float h = 0.0F;
  float h_xhat = 0.0F;

  // The next element of the channel.
  void add(float x_i, float g_i, float gamma, float mean, float inv);
  // A part has ended: its sums go to those of the parts before it, and the next part begins.
  void end_part(GradientSums& total);
};
GradientSums gradient_sums(std::span<const float> x, std::span<const float> g, float gamma, float mean,
                           float inv, std::int64_t parts = 1);

struct NormGradients {
  float gamma = 0.0F;
  float beta = 0.0F;
};

// Throws std::invalid_argument unless both have the channel's length, which must be at least 2.
void check_channel(std::size_t length, std::size_t other);

}  // namespace mantissa

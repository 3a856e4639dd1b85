// The second passes of both batch norms: each element by itself, with the numbers of its channel
// (ARITHMETIC.md 8).
#pragma once

#include <span>

#include "models/norm/norm_shape.hpp"

namespace mantissa::kernels {

// Lengths must fit the shape: callers have checked them. An output may be one of the inputs.

// As normalise().
struct Normalisation {
  float mean = 0.0F;
  float inv = 0.0F;
  float gamma = 0.0F;
  float beta = 0.0F;
};
void normalise_tensor(std::span<const float> x, const NormShape& shape,
                      std::span<const Normalisation> channels, std::span<float> y, int threads);

// dx = ((gamma*g - mean_h) - xhat*mean_h_xhat)*inv, as batch_norm_backward().
struct BatchNormGradient {
  float mean = 0.0F;
  float inv = 0.0F;
  float gamma = 0.0F;
  float mean_h = 0.0F;
  float mean_h_xhat = 0.0F;
};
void batch_norm_gradient(std::span<const float> x, std::span<const float> g, const NormShape& shape,
                         std::span<const BatchNormGradient> channels, std::span<float> dx, int threads);

// dx = (gamma*g - mean_h)*inv, as range_bn_input_gradient().
struct RangeBnGradient {
  float inv = 0.0F;
  float gamma = 0.0F;
  float mean_h = 0.0F;
};
void range_bn_gradient(std::span<const float> g, const NormShape& shape,
                       std::span<const RangeBnGradient> channels, std::span<float> dx, int threads);

}  // namespace mantissa::kernels

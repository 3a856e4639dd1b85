// Standard batch normalisation (mean and variance), the yardstick for Range BN (ARITHMETIC.md 8): FP32, every
// operation rounded on its own, sums in stream order, only y uses fma.
#pragma once

#include <cstdint>
#include <span>

#include "models/norm/channel.hpp"

namespace mantissa {

struct BatchNormSaved {
  float mean = 0.0F;
  float inv = 0.0F;       // 1/sqrt(variance + epsilon)
  float variance = 0.0F;  // of the population: what running statistics collect; backward does not read it
};

// 1/sqrt(variance + epsilon), for a variance from running statistics too.
float batch_norm_inv(float variance);

// One channel in stream order, its sums cut into so many parts.
BatchNormSaved batch_norm_forward(std::span<const float> x, float gamma, float beta, std::span<float> y,
                                  std::int64_t parts = 1);

// g = dL/dy. Writes dx_i = ((h_i - mean(h)) - xhat_i * mean(h*xhat)) * inv and returns dL/dgamma, dL/dbeta.
NormGradients batch_norm_backward(std::span<const float> x, std::span<const float> g, float gamma,
                                  const BatchNormSaved& saved, std::span<float> dx, std::int64_t parts = 1);

}  // namespace mantissa

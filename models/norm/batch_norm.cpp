#include "models/norm/batch_norm.hpp"

#include <cmath>

#include "models/mac/arithmetic.hpp"

namespace mantissa {

float batch_norm_inv(float variance) {
  // IEEE 754 requires a correctly rounded square root, so the host's has the golden bits.
  return f32::div(1.0F, std::sqrt(f32::add(variance, norm_epsilon)));
}

BatchNormSaved batch_norm_forward(std::span<const float> x, float gamma, float beta, std::span<float> y,
                                  std::int64_t parts) {
  check_channel(x.size(), y.size());
  const float mean = channel_mean(x, parts);
  const std::int64_t length = part_length(std::ssize(x), parts);
  float squares = 0.0F;
  for (std::int64_t part = 0; part < parts; ++part) {
    float of_part = 0.0F;
    for (const float value : x.subspan(part * length, length)) {
      const float centred = f32::sub(value, mean);
      of_part = f32::add(of_part, f32::mul(centred, centred));
    }
    squares = f32::add(squares, of_part);
  }
  const float variance = f32::mul(squares, reciprocal_of(static_cast<std::int64_t>(x.size())));
  const BatchNormSaved saved{mean, batch_norm_inv(variance), variance};
  normalise(x, saved.mean, saved.inv, gamma, beta, y);
  return saved;
}

NormGradients batch_norm_backward(std::span<const float> x, std::span<const float> g, float gamma,
                                  const BatchNormSaved& saved, std::span<float> dx, std::int64_t parts) {
  check_channel(x.size(), g.size());
  check_channel(x.size(), dx.size());
  const GradientSums sums = gradient_sums(x, g, gamma, saved.mean, saved.inv, parts);
  const float reciprocal_n = reciprocal_of(static_cast<std::int64_t>(x.size()));
  const float mean_h = f32::mul(sums.h, reciprocal_n);
  const float mean_h_xhat = f32::mul(sums.h_xhat, reciprocal_n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float centred = f32::sub(f32::mul(gamma, g[i]), mean_h);
    const float along = f32::mul(normalised(x[i], saved.mean, saved.inv), mean_h_xhat);
    dx[i] = f32::mul(f32::sub(centred, along), saved.inv);
  }
  return {sums.g_xhat, sums.g};
}

}  // namespace mantissa

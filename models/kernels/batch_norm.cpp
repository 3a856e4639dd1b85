#include <vector>

#include "models/kernels/channel_maps.hpp"
#include "models/kernels/channel_sums.hpp"
#include "models/kernels/norm.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa::kernels {
namespace {

void check_channels(const NormShape& shape) {
  const auto length = static_cast<std::size_t>(shape.per_channel());
  check_channel(length, length);
}

}  // namespace

std::vector<BatchNormSaved> batch_norm_forward(std::span<const float> x, const NormShape& shape,
                                               std::span<const float> gamma, std::span<const float> beta,
                                               std::span<float> y, int threads, std::int64_t parts) {
  check_elements("x", x.size(), shape);
  check_channels(shape);
  const std::int64_t length = part_length(shape.per_channel(), parts);
  std::vector<float> mean(shape.channels);
  std::vector<float> squares(shape.channels);
  channel_means(x, shape, length, mean, threads);
  channel_squares(x, shape, length, mean, squares, threads);
  const float reciprocal_n = reciprocal_of(shape.per_channel());
  std::vector<BatchNormSaved> saved(shape.channels);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const float variance = f32::mul(squares[c], reciprocal_n);
    saved[c] = {mean[c], batch_norm_inv(variance), variance};
  }
  batch_norm_inference(x, shape, gamma, beta, saved, y, threads);
  return saved;
}

std::vector<NormGradients> batch_norm_backward(std::span<const float> x, std::span<const float> g,
                                               const NormShape& shape, std::span<const float> gamma,
                                               std::span<const BatchNormSaved> saved, std::span<float> dx,
                                               int threads, std::int64_t parts) {
  check_elements("x", x.size(), shape);
  check_elements("g", g.size(), shape);
  check_elements("dx", dx.size(), shape);
  check_per_channel("gamma", gamma.size(), shape);
  check_per_channel("the saved statistics", saved.size(), shape);
  check_channels(shape);
  const std::int64_t length = part_length(shape.per_channel(), parts);
  std::vector<float> mean;
  std::vector<float> inv;
  for (const BatchNormSaved& each : saved) {
    mean.push_back(each.mean);
    inv.push_back(each.inv);
  }
  std::vector<GradientSums> sums(shape.channels);
  channel_gradient_sums(x, g, shape, length, {.mean = mean, .inv = inv, .gamma = gamma}, sums, threads);

  const float reciprocal_n = reciprocal_of(shape.per_channel());
  std::vector<BatchNormGradient> channels;
  std::vector<NormGradients> gradients;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    channels.push_back({.mean = mean[c],
                        .inv = inv[c],
                        .gamma = gamma[c],
                        .mean_h = f32::mul(sums[c].h, reciprocal_n),
                        .mean_h_xhat = f32::mul(sums[c].h_xhat, reciprocal_n)});
    gradients.push_back({sums[c].g_xhat, sums[c].g});
  }
  batch_norm_gradient(x, g, shape, channels, dx, threads);
  return gradients;
}

void batch_norm_inference(std::span<const float> x, const NormShape& shape, std::span<const float> gamma,
                          std::span<const float> beta, std::span<const BatchNormSaved> statistics,
                          std::span<float> y, int threads) {
  check_elements("x", x.size(), shape);
  check_elements("y", y.size(), shape);
  check_per_channel("gamma", gamma.size(), shape);
  check_per_channel("beta", beta.size(), shape);
  check_per_channel("the statistics", statistics.size(), shape);
  std::vector<Normalisation> channels;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    channels.push_back(
        {.mean = statistics[c].mean, .inv = statistics[c].inv, .gamma = gamma[c], .beta = beta[c]});
  }
  normalise_tensor(x, shape, channels, y, threads);
}

}  // namespace mantissa::kernels

#include <limits>
#include <utility>
#include <vector>

#include "models/kernels/channel_maps.hpp"
#include "models/kernels/channel_sums.hpp"
#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/norm.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa::kernels {
namespace {

// An operand on its way into the unit, through 8 bits and back. Returns how many elements were NaN.
std::uint64_t through_8_bits(std::span<const float> values, Rounding rounding, const DrawSource& draws,
                             std::vector<float>& used, int threads) {
  used.resize(values.size());
  return gemmlowp_round_values(values, gemmlowp_range(values, 8, threads), rounding, draws, used, threads);
}

std::uint64_t take(std::span<const float> values, NormPrecision precision, std::vector<float>& used,
                   int threads) {
  if (precision == NormPrecision::int8) return through_8_bits(values, Rounding::rne(), {}, used, threads);
  used.assign(values.begin(), values.end());
  return 0;
}

Stretches stretches_of(const RangeBnRegisters& registers, const NormShape& shape) {
  return {.chunk = registers.chunk_length, .part = part_length(shape.per_channel(), registers.parts)};
}

std::int64_t position(const NormShape& shape, std::int64_t channel, std::int64_t index) {
  return shape.run_begin(index / shape.spatial, channel) + index % shape.spatial;
}

void add_corrections(const RangeBnSaved& saved, const NormShape& shape, std::int64_t channel, float t,
                     std::span<float> dx) {
  for (std::size_t chunk = 0; chunk < saved.argmax.size(); ++chunk) {
    if (saved.argmax[chunk] == saved.argmin[chunk]) continue;
    float& highest = dx[position(shape, channel, saved.argmax[chunk])];
    float& lowest = dx[position(shape, channel, saved.argmin[chunk])];
    highest = f32::add(highest, t);
    lowest = f32::sub(lowest, t);
  }
}

}  // namespace

RangeBnTensorSaved range_bn_tensor_forward(std::span<const float> x, const NormShape& shape,
                                           std::span<const float> gamma, std::span<const float> beta,
                                           const RangeBnTensorConfig& config, std::span<float> y,
                                           int threads) {
  check_elements("x", x.size(), shape);
  check_elements("y", y.size(), shape);
  check_per_channel("gamma", gamma.size(), shape);
  check_per_channel("beta", beta.size(), shape);
  const RangeBnRegisters registers(shape.per_channel(), config.channel);
  // Vectors keep positions in a chunk as 32-bit integers.
  if (registers.chunk_length > std::numeric_limits<std::int32_t>::max()) {
    return mantissa::range_bn_tensor_forward(x, shape, gamma, beta, config, y);
  }

  RangeBnTensorSaved saved;
  saved.shape = shape;
  saved.config = config;
  saved.invalid = take(x, config.precision, saved.x, threads);
  saved.invalid += take(gamma, config.precision, saved.gamma, threads);
  saved.invalid += take(beta, config.precision, saved.beta, threads);

  std::vector<float> inv;
  for (ChannelExtremes& each : channel_extremes(saved.x, shape, stretches_of(registers, shape), threads)) {
    inv.push_back(range_bn_inv(each.maxima, each.minima, each.has_nan, registers));
    saved.channels.push_back({.mean = f32::mul(each.sum, registers.reciprocal_n),
                              .inv = inv.back(),
                              .argmax = std::move(each.argmax),
                              .argmin = std::move(each.argmin)});
  }
  if (config.precision == NormPrecision::int8) saved.inv_range = GemmlowpRange::of(inv, 8);
  std::vector<float> inv_used;
  saved.invalid += take(inv, config.precision, inv_used, threads);

  std::vector<Normalisation> channels;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    saved.channels[c].inv = inv_used[c];
    channels.push_back(
        {.mean = saved.channels[c].mean, .inv = inv_used[c], .gamma = saved.gamma[c], .beta = saved.beta[c]});
  }
  normalise_tensor(saved.x, shape, channels, y, threads);
  return saved;
}

RangeBnTensorGradients range_bn_tensor_backward(const RangeBnTensorSaved& saved, std::span<const float> g,
                                                const DrawSource& draws, std::span<float> dx, int threads) {
  const NormShape& shape = saved.shape;
  check_elements("the saved x", saved.x.size(), shape);
  check_per_channel("the saved gamma", saved.gamma.size(), shape);
  check_per_channel("the saved statistics", saved.channels.size(), shape);
  check_elements("g", g.size(), shape);
  check_elements("dx", dx.size(), shape);
  const RangeBnRegisters registers(shape.per_channel(), saved.config.channel);
  std::vector<float> mean;
  std::vector<float> inv;
  for (const RangeBnSaved& channel : saved.channels) {
    check_range_bn_saved(channel, shape.per_channel(), saved.config.channel.chunks);
    mean.push_back(channel.mean);
    inv.push_back(channel.inv);
  }

  RangeBnTensorGradients gradients;
  std::vector<float> g_used;
  if (saved.config.precision == NormPrecision::int8) {
    gradients.invalid = through_8_bits(g, saved.config.gradient_rounding, draws, g_used, threads);
    g = g_used;
  }
  std::vector<GradientSums> sums(shape.channels);
  channel_gradient_sums(saved.x, g, shape, part_length(shape.per_channel(), registers.parts),
                        {.mean = mean, .inv = inv, .gamma = saved.gamma}, sums, threads);

  std::vector<RangeBnGradient> channels;
  std::vector<RangeBnCorrection>& corrections = gradients.corrections;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    corrections.push_back(range_bn_correction(sums[c], inv[c], registers));
    channels.push_back({.inv = inv[c], .gamma = saved.gamma[c], .mean_h = corrections[c].mean_h});
    gradients.gamma.push_back(sums[c].g_xhat);
    gradients.beta.push_back(sums[c].g);
  }
  range_bn_gradient(g, shape, channels, dx, threads);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    add_corrections(saved.channels[c], shape, c, corrections[c].t, dx);
  }
  return gradients;
}

}  // namespace mantissa::kernels

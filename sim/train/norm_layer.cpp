#include "sim/train/norm_layer.hpp"

#include <algorithm>
#include <utility>

#include "models/kernels/drain.hpp"
#include "models/kernels/gemmlowp.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/stream_id.hpp"

namespace mantissa::train {
namespace {

// Share of a step in the running statistics.
constexpr float running_share = 0.1F;

// Through 8 bits and back, as the unit's operands go.
std::vector<float> in_eight_bits(std::span<const float> values, int threads) {
  std::vector<float> back(values.size());
  kernels::gemmlowp_round_values(values, kernels::gemmlowp_range(values, 8, threads), Rounding::rne(), {},
                                 back, threads);
  return back;
}

// Mean and inv of every channel.
template <class Saved>
std::pair<std::vector<float>, std::vector<float>> statistics_of(const std::vector<Saved>& channels) {
  std::vector<float> mean;
  std::vector<float> inv;
  for (const Saved& channel : channels) {
    mean.push_back(channel.mean);
    inv.push_back(channel.inv);
  }
  return {mean, inv};
}

}  // namespace

NormLayer::NormLayer(Node node, LayerPlan plan) : node_(std::move(node)), plan_(std::move(plan)) {
  running_.mean.resize(node_.in_shape.channels);
  running_.scale.resize(node_.in_shape.channels);
}

void NormLayer::forward(const Step& step, const Tensor& x, std::span<const float> gamma,
                        std::span<const float> beta, Tensor& y) {
  shape_ = {.batch = static_cast<std::int64_t>(x.values.size()) / node_.in_shape.elements(),
            .channels = node_.in_shape.channels,
            .spatial = node_.in_shape.spatial()};
  rule_ = plan_.norm(shape_.per_channel());
  plain_ = read(step, plan_.input(), x, counts_.activations, x_, plain_storage_);
  gamma_.assign(gamma.begin(), gamma.end());
  y.values.resize(x.values.size());
  y.grid.reset();
  if (step.training) {
    normalise(step, gamma, beta, y);
  } else {
    validate(step, gamma, beta, y);
  }
  drain(step, Pass::forward, Role::output, counts_.activations, y);
}

// By the batch's own statistics, which go into the running ones.
void NormLayer::normalise(const Step& step, std::span<const float> gamma, std::span<const float> beta,
                          Tensor& y) {
  switch (rule_.kind) {
    case NormRule::Kind::range: {
      range_saved_ =
          kernels::range_bn_tensor_forward(plain_, shape_, gamma, beta, rule_.range, y.values, step.threads);
      const auto [mean, inv] = statistics_of(range_saved_.channels);
      return average(mean, inv);
    }
    case NormRule::Kind::standard: {
      saved_ = kernels::batch_norm_forward(plain_, shape_, gamma, beta, y.values, step.threads, rule_.parts);
      const auto [mean, inv] = statistics_of(saved_);
      return average(mean, inv);
    }
  }
}

std::span<const float> NormLayer::read(const Step& step, const OperandSite& site, const Tensor& source,
                                       ConversionCounts& counts, EncodedTensor& encoded,
                                       std::vector<float>& storage) {
  if (plan_.norm_quantizes() && site.format.type.is_integer()) return source.values;
  plan_.encode(step, site, source.values, encoded, held_as_numbers(source, step.count ? &counts : nullptr));
  return encoded.numbers(storage, step.threads);
}

// With the running statistics, and in the 8-bit mode with operands of 8 bits.
void NormLayer::validate(const Step& step, std::span<const float> gamma, std::span<const float> beta,
                         Tensor& y) {
  std::vector<float> inv(running_.scale.size());
  for (std::size_t c = 0; c < inv.size(); ++c) inv[c] = f32::div(1.0F, running_.scale[c]);
  std::vector<float> used_gamma(gamma.begin(), gamma.end());
  std::vector<float> used_beta(beta.begin(), beta.end());
  if (plan_.norm_quantizes()) {
    plain_storage_ = in_eight_bits(plain_, step.threads);
    plain_ = plain_storage_;
    inv = in_eight_bits(inv, 1);
    used_gamma = in_eight_bits(gamma, 1);
    used_beta = in_eight_bits(beta, 1);
  }
  std::vector<BatchNormSaved> statistics(inv.size());
  for (std::size_t c = 0; c < inv.size(); ++c) statistics[c] = {running_.mean[c], inv[c]};
  kernels::batch_norm_inference(plain_, shape_, used_gamma, used_beta, statistics, y.values, step.threads);
}

void NormLayer::average(std::span<const float> mean, std::span<const float> inv) {
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const float scale = f32::div(1.0F, inv[c]);
    const float share = running_.scale[c] == 0 ? 1.0F : running_share;
    running_.mean[c] = f32::fma(share, f32::sub(mean[c], running_.mean[c]), running_.mean[c]);
    running_.scale[c] = f32::fma(share, f32::sub(scale, running_.scale[c]), running_.scale[c]);
  }
}

void NormLayer::backward(const Step& step, const Tensor& g, const Gradients& gradients) {
  const std::span<const float> used = read(step, plan_.error(), g, counts_.errors, g_, g_storage_);
  Tensor& dx = *gradients.x;
  dx.values.resize(g.values.size());
  dx.grid.reset();
  switch (rule_.kind) {
    case NormRule::Kind::range: {
      const RangeBnTensorGradients sums = kernels::range_bn_tensor_backward(
          range_saved_, used,
          plan_.draws(step, Pass::input_gradient, RandomUnit::gemmlowp_quantizer, Operand::a), dx.values,
          step.threads);
      std::copy(sums.gamma.begin(), sums.gamma.end(), gradients.gamma.begin());
      std::copy(sums.beta.begin(), sums.beta.end(), gradients.beta.begin());
      break;
    }
    case NormRule::Kind::standard: {
      const std::vector<NormGradients> sums = kernels::batch_norm_backward(
          plain_, used, shape_, gamma_, saved_, dx.values, step.threads, rule_.parts);
      for (std::size_t c = 0; c < sums.size(); ++c) {
        gradients.gamma[c] = sums[c].gamma;
        gradients.beta[c] = sums[c].beta;
      }
      break;
    }
  }
  drain(step, Pass::input_gradient, Role::grad_input, counts_.errors, dx);
}

// Results leave through quantizers like the array's, in tensor order.
void NormLayer::drain(const Step& step, Pass pass, Role role, ConversionCounts& counts, Tensor& result) {
  const std::optional<TensorFormat> format = plan_.drain(role);
  if (!format) return;
  const int scale = plan_.scale(step, role, *format, result.values);
  kernels::round_values(result.values, plan_.drain_conversion(step, *format, scale),
                        plan_.draws(step, pass, RandomUnit::drain_quantizer), result.values, step.threads,
                        step.count ? &counts : nullptr);
  result.grid = Grid{format->type.format(), scale};
}

}  // namespace mantissa::train

#include "sim/train/norm_layer.hpp"

#include <algorithm>

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

}  // namespace

NormLayer::NormLayer(const Recipe& recipe, Node node, LayerRecipe layer)
    : recipe_(&recipe), node_(std::move(node)), layer_(std::move(layer)) {
  running_.mean.resize(node_.in_shape.channels);
  running_.scale.resize(node_.in_shape.channels);
}

void NormLayer::forward(const Step& step, const Tensor& x, std::span<const float> gamma,
                        std::span<const float> beta, Tensor& y) {
  shape_ = {.batch = static_cast<std::int64_t>(x.values.size()) / node_.in_shape.elements(),
            .channels = node_.in_shape.channels,
            .spatial = node_.in_shape.spatial()};
  quantize(step, x, trace::Role::input, recipe_->activations, Pass::forward, counts_.activations, x_);
  plain_ = x_.numbers(plain_storage_);
  gamma_.assign(gamma.begin(), gamma.end());
  y.values.resize(x.values.size());
  y.grid.reset();
  if (!step.training) {
    validate(step, gamma, beta, y);
  } else if (range()) {
    range_saved_ = kernels::range_bn_tensor_forward(plain_, shape_, gamma, beta,
                                                    recipe_->norm.range_of(shape_.batch * shape_.spatial),
                                                    y.values, step.threads);
    std::vector<float> mean;
    std::vector<float> inv;
    for (const RangeBnSaved& channel : range_saved_.channels) {
      mean.push_back(channel.mean);
      inv.push_back(channel.inv);
    }
    average(mean, inv);
  } else {
    saved_ = kernels::batch_norm_forward(plain_, shape_, gamma, beta, y.values, step.threads);
    std::vector<float> mean;
    std::vector<float> inv;
    for (const BatchNormSaved& channel : saved_) {
      mean.push_back(channel.mean);
      inv.push_back(channel.inv);
    }
    average(mean, inv);
  }
  drain(step, Pass::forward, trace::Role::output, recipe_->activations, counts_.activations, y);
}

// Codes are decoded; integers are the affair of Range BN's own 8-bit mode.
void NormLayer::quantize(const Step& step, const Tensor& source, trace::Role role, const TensorFormat& how,
                         Pass pass, ConversionCounts& counts, QuantizedTensor& result) {
  const bool codes = layer_.arithmetic == Arithmetic::floating;
  result.assign(source,
                {.arithmetic = codes ? Arithmetic::floating : Arithmetic::fp32,
                 .how = how,
                 .scale = codes ? layer_.scale_for(role, how, source.values, 0, step) : 0,
                 .draws = step.draws(layer_.index, pass, RandomUnit::tensor_quantizer)},
                step, counts);
}

// With the running statistics, and in the 8-bit mode with operands of 8 bits.
void NormLayer::validate(const Step& step, std::span<const float> gamma, std::span<const float> beta,
                         Tensor& y) {
  std::vector<float> inv(running_.scale.size());
  for (std::size_t c = 0; c < inv.size(); ++c) inv[c] = f32::div(1.0F, running_.scale[c]);
  std::vector<float> used_gamma(gamma.begin(), gamma.end());
  std::vector<float> used_beta(beta.begin(), beta.end());
  if (eight_bits()) {
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
  quantize(step, g, trace::Role::grad_output, recipe_->errors, Pass::input_gradient, counts_.errors, g_);
  Tensor& dx = *gradients.x;
  dx.values.resize(g.values.size());
  dx.grid.reset();
  const std::span<const float> used = g_.numbers(g_storage_);
  if (range()) {
    const RangeBnTensorGradients sums = kernels::range_bn_tensor_backward(
        range_saved_, used, step.draws(layer_.index, Pass::input_gradient, RandomUnit::gemmlowp_quantizer),
        dx.values, step.threads);
    std::copy(sums.gamma.begin(), sums.gamma.end(), gradients.gamma.begin());
    std::copy(sums.beta.begin(), sums.beta.end(), gradients.beta.begin());
  } else {
    const std::vector<NormGradients> sums =
        kernels::batch_norm_backward(plain_, used, shape_, gamma_, saved_, dx.values, step.threads);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      gradients.gamma[c] = sums[c].gamma;
      gradients.beta[c] = sums[c].beta;
    }
  }
  drain(step, Pass::input_gradient, trace::Role::grad_input, recipe_->errors, counts_.errors, dx);
}

// Results leave through quantizers like the array's, in tensor order.
void NormLayer::drain(const Step& step, Pass pass, trace::Role role, const TensorFormat& how,
                      ConversionCounts& counts, Tensor& result) {
  if (layer_.arithmetic != Arithmetic::floating) return;
  const int scale = layer_.scale_for(role, how, result.values, 0, step);
  ConversionCounts met;
  kernels::round_values(result.values, conversion_of(how, scale, step),
                        step.draws(layer_.index, pass, RandomUnit::drain_quantizer), result.values,
                        step.threads, step.count ? &met : nullptr);
  counts += met;
  result.grid = Grid{how.format, scale};
}

}  // namespace mantissa::train

#include "models/update/weight_update.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/quantize/rounding_draws.hpp"

namespace mantissa {
namespace {

float widened(std::uint16_t weight) {
  return fp32_value(convert(weight, {.from = formats::fp16, .to = formats::fp32}).code);
}

UpdatedWeight updated(std::uint16_t weight, float momentum, float gradient, const WeightUpdateConfig& config,
                      std::uint32_t draw) {
  UpdateState state{.weight = weight, .momentum = momentum, .gradient = gradient};
  update_unscale(state, config);
  update_decay(state, config);
  update_momentum(state, config);
  update_step(state, config);
  update_store(state, config, draw);
  return {state.weight, state.momentum, state.flags};
}

UpdatedFp32Weight updated_fp32(float weight, float momentum, float gradient,
                               const WeightUpdateConfig& config) {
  UpdateState state{.momentum = momentum, .gradient = gradient};
  update_unscale(state, config);
  state.gradient = f32::fma(config.weight_decay, weight, state.gradient);
  update_momentum(state, config);
  return {f32::fma(-config.learning_rate, state.momentum, weight), state.momentum};
}

}  // namespace

void update_unscale(UpdateState& state, const WeightUpdateConfig& config) {
  if (const auto* by_factor = std::get_if<UnscaleByFactor>(&config.unscale)) {
    state.gradient = f32::mul(state.gradient, by_factor->factor);
  } else {
    const int exponent = std::get<UnscaleByExponent>(config.unscale).exponent;
    state.gradient = fp32_value(convert(fp32_bits(state.gradient), {.scale = -exponent}).code);
  }
}

void update_decay(UpdateState& state, const WeightUpdateConfig& config) {
  state.gradient = f32::fma(config.weight_decay, widened(state.weight), state.gradient);
}

void update_momentum(UpdateState& state, const WeightUpdateConfig& config) {
  state.momentum = f32::fma(config.momentum, state.momentum, state.gradient);
}

void update_step(UpdateState& state, const WeightUpdateConfig& config) {
  state.next = f32::fma(-config.learning_rate, state.momentum, widened(state.weight));
}

void update_store(UpdateState& state, const WeightUpdateConfig& config, std::uint32_t draw) {
  const Rounded stored =
      convert(fp32_bits(state.next), {.to = formats::fp16, .rounding = config.rounding}, draw);
  state.weight = static_cast<std::uint16_t>(stored.code);
  state.flags = stored.flags;
}

void WeightUpdateConfig::check() const {
  if (!rounding.nearest() && rounding != Rounding::sr(13)) {
    throw std::invalid_argument("master weights are rounded to nearest (" +
                                rounding_names([](const RoundingTraits& mode) { return mode.nearest; }) +
                                ") or by sr:13, not by " + rounding.name());
  }
  const auto* by_exponent = std::get_if<UnscaleByExponent>(&unscale);
  if (by_exponent != nullptr && (by_exponent->exponent < -127 || by_exponent->exponent > 128)) {
    throw std::invalid_argument("loss scale exponent " + std::to_string(by_exponent->exponent) +
                                " is out of range; it must be -127..128");
  }
}

UpdatedWeight update_weight(std::uint16_t weight, float momentum, float gradient,
                            const WeightUpdateConfig& config, std::uint32_t draw) {
  config.check();
  return updated(weight, momentum, gradient, config, draw);
}

UpdatedFp32Weight update_weight_fp32(float weight, float momentum, float gradient,
                                     const WeightUpdateConfig& config) {
  config.check();
  return updated_fp32(weight, momentum, gradient, config);
}

bool has_nonfinite(std::span<const float> gradient) {
  return std::any_of(gradient.begin(), gradient.end(), [](float value) { return !std::isfinite(value); });
}

bool update_weights(std::span<std::uint16_t> weights, std::span<float> momentum,
                    std::span<const float> gradient, const WeightUpdateConfig& config,
                    const DrawSource& draws) {
  config.check();
  check_update_sizes(weights.size(), momentum.size(), gradient.size());
  RoundingDraws element_draws(config.rounding, draws);
  if (has_nonfinite(gradient)) return false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const UpdatedWeight next = updated(weights[i], momentum[i], gradient[i], config, element_draws.next());
    weights[i] = next.weight;
    momentum[i] = next.momentum;
  }
  return true;
}

bool update_weights_fp32(std::span<float> weights, std::span<float> momentum, std::span<const float> gradient,
                         const WeightUpdateConfig& config) {
  config.check();
  check_update_sizes(weights.size(), momentum.size(), gradient.size());
  if (has_nonfinite(gradient)) return false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const UpdatedFp32Weight next = updated_fp32(weights[i], momentum[i], gradient[i], config);
    weights[i] = next.weight;
    momentum[i] = next.momentum;
  }
  return true;
}

void check_update_sizes(std::size_t weights, std::size_t momentum, std::size_t gradient) {
  if (momentum != weights || gradient != weights) {
    throw std::invalid_argument("weights, momentum and gradient must have the same number of elements, not " +
                                std::to_string(weights) + ", " + std::to_string(momentum) + ", " +
                                std::to_string(gradient));
  }
}

}  // namespace mantissa

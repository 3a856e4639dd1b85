#include "sim/train/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "models/kernels/quantize.hpp"
#include "models/kernels/weight_update.hpp"
#include "models/mac/stream_id.hpp"
#include "models/random/normal.hpp"
#include "sim/trace/widen.hpp"

namespace mantissa::train {
namespace {

void widen(Parameter& parameter) {
  trace::widen(trace::DType::f16, std::as_bytes(std::span(parameter.half)), parameter.value.values);
}

}  // namespace

void initialise_weights(Parameter& parameter, std::int64_t fan_in, std::uint64_t seed) {
  const double deviation = std::sqrt(2.0 / static_cast<double>(fan_in));
  std::vector<float>& values = parameter.value.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t word = mix(mix(mix(seed) ^ (std::uint64_t{0x1417} << 32 | parameter.layer)) ^ i);
    // Within (0, 1), symmetric about a half.
    const double uniform = (static_cast<double>(word >> 12) + 0.5) * 0x1p-52;
    values[i] = static_cast<float>(deviation * normal_quantile(uniform));
  }
}

void fill(Parameter& parameter, float value) {
  std::fill(parameter.value.values.begin(), parameter.value.values.end(), value);
}

void make_master(Parameter& parameter, const MasterWeights& master) {
  if (!parameter.master || master.format == formats::fp32) return;
  parameter.half.resize(parameter.value.values.size());
  kernels::quantize<std::uint16_t>(parameter.value.values, {.to = formats::fp16}, {}, parameter.half);
  widen(parameter);
}

bool finite(std::span<const Parameter> parameters, const Step& step) {
  return std::none_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
    return kernels::has_nonfinite(parameter.gradient, step.threads);
  });
}

bool update(std::span<Parameter> parameters, const Optimizer& optimizer, const Step& step) {
  if (!finite(parameters, step)) return false;
  WeightUpdateConfig config{.learning_rate = optimizer.learning_rate,
                            .unscale = UnscaleByExponent{optimizer.loss_exponent}};
  for (Parameter& parameter : parameters) {
    config.momentum = parameter.corrected ? 0 : optimizer.momentum;
    // Bias, gamma and beta are not decayed.
    config.weight_decay = parameter.master && !parameter.corrected ? optimizer.weight_decay : 0;
    if (parameter.half.empty()) {
      kernels::update_weights_fp32(parameter.value.values, parameter.momentum, parameter.gradient, config,
                                   step.threads);
      continue;
    }
    config.rounding = optimizer.master.rounding;
    kernels::update_weights(parameter.half, parameter.momentum, parameter.gradient, config,
                            step.draws(parameter.layer, Pass::update, RandomUnit::weight_update),
                            step.threads);
    widen(parameter);
  }
  return true;
}

}  // namespace mantissa::train

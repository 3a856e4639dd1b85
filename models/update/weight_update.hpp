// weight_update: FP16 master weights, FP32 momentum, one fused step per element (ARITHMETIC.md 11; Mellempudi
// et al. 2019). Beside it the same step for FP32 masters, the yardstick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "models/format/flags.hpp"
#include "models/format/rounding.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

// How the loss scale leaves the gradient: g' = fp32(g * 2^-exponent) or g' = fp32(g * factor).
struct UnscaleByExponent {
  int exponent = 0;  // -127..128
};
struct UnscaleByFactor {
  float factor = 1.0F;  // the reciprocal of the loss scale
};

struct WeightUpdateConfig {
  float learning_rate = 0.0F;
  float momentum = 0.0F;
  float weight_decay = 0.0F;
  std::variant<UnscaleByExponent, UnscaleByFactor> unscale = {};
  Rounding rounding = Rounding::rne();  // to FP16: to nearest, or sr:13

  // Throws std::invalid_argument for another rounding or an exponent out of range.
  void check() const;
};

struct UpdatedWeight {
  std::uint16_t weight = 0;  // FP16 code
  float momentum = 0.0F;
  Flags flags;  // of the conversion to FP16
};

// An element stage by stage: what a pipelined unit carries from one register to the next. update_weight is
// all of them in a row.
struct UpdateState {
  std::uint16_t weight = 0;  // w, FP16; w' after the last stage
  float momentum = 0.0F;     // m, then m'
  float gradient = 0.0F;     // g, then g', then g''
  float next = 0.0F;         // w' in FP32
  Flags flags = {};
};
void update_unscale(UpdateState& state, const WeightUpdateConfig& config);
void update_decay(UpdateState& state, const WeightUpdateConfig& config);
void update_momentum(UpdateState& state, const WeightUpdateConfig& config);
void update_step(UpdateState& state, const WeightUpdateConfig& config);
void update_store(UpdateState& state, const WeightUpdateConfig& config, std::uint32_t draw);

// One element. `draw` supplies R of sr:13.
UpdatedWeight update_weight(std::uint16_t weight, float momentum, float gradient,
                            const WeightUpdateConfig& config, std::uint32_t draw = 0);

// One element of an FP32 master: w' is stored as it is, so config.rounding has nothing to do.
struct UpdatedFp32Weight {
  float weight = 0.0F;
  float momentum = 0.0F;
};
UpdatedFp32Weight update_weight_fp32(float weight, float momentum, float gradient,
                                     const WeightUpdateConfig& config);

// True iff any element is Inf or NaN: then the whole step must be skipped.
bool has_nonfinite(std::span<const float> gradient);

// One tensor in place; element i takes draw i / lanes of lane i mod lanes. Returns false, and changes
// nothing, if the gradient has a non-finite element. A step over several tensors scans all of them first.
bool update_weights(std::span<std::uint16_t> weights, std::span<float> momentum,
                    std::span<const float> gradient, const WeightUpdateConfig& config,
                    const DrawSource& draws);

// The same for FP32 masters, which draw nothing.
bool update_weights_fp32(std::span<float> weights, std::span<float> momentum, std::span<const float> gradient,
                         const WeightUpdateConfig& config);

// Throws std::invalid_argument unless all three numbers of elements are equal.
void check_update_sizes(std::size_t weights, std::size_t momentum, std::size_t gradient);

}  // namespace mantissa

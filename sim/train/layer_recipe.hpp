// What a recipe means for one layer of a run, and what the layer met.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/format/convert.hpp"
#include "models/sparsity/pruner.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/trace/trace.hpp"
#include "sim/train/step.hpp"

namespace mantissa::train {

struct LayerRecipe {
  std::string name;
  std::uint16_t index = 0;  // among the layers of a trace (conv, linear, norm): part of every random stream
  Arithmetic arithmetic = Arithmetic::fp32;  // that of the recipe, or FP32 for an exempt layer
  TensorFormat errors;                       // the recipe's, or chosen for this layer from its gradients
  std::optional<double> tau = std::nullopt;  // pruning threshold; none: errors are not pruned
  double target = 0;                         // share of zeros that the threshold is to give
  double correction = 0;                     // added to it when a threshold is looked for
  // The registers of its quantizers' scales, one per tensor that they make. Those of `scale: centre` keep
  // their exponent between refreshes.
  std::array<int, trace::role_count> scale{};

  // The exponent by which the quantizer of this tensor multiplies in this step. The values are numbers times
  // 2^from; loss scaling is in them already.
  int scale_for(trace::Role tensor, const TensorFormat& how, std::span<const float> values, int from,
                const Step& step);
  // The loss scale was multiplied by 2^exponent: so are errors to come, and registers that were set for them.
  void follow_loss_scale(int exponent);
};

// Of the steps that count.
struct LayerCounts {
  ConversionCounts weights;
  ConversionCounts activations;
  ConversionCounts errors;
  ConversionCounts weight_gradients;
  PruneCounts pruned;   // of every step of the epoch
  double aimed_at = 0;  // zeros that `pruned` would have if every step met its target
  PruneCounts recent;   // of every step since the last refresh

  LayerCounts& operator+=(const LayerCounts& other) {
    weights += other.weights;
    activations += other.activations;
    errors += other.errors;
    weight_gradients += other.weight_gradients;
    pruned += other.pruned;
    aimed_at += other.aimed_at;
    recent += other.recent;
    return *this;
  }
};

}  // namespace mantissa::train

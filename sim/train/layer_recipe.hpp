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
  // The registers of its quantizers' scales, one per tensor that they make. Those of `scale: centre` keep
  // their exponent between refreshes.
  std::array<int, trace::role_count> scale{};

  // The exponent by which the quantizer of this tensor multiplies in this step. The values are numbers times
  // 2^from; loss scaling is in them already.
  int scale_for(trace::Role tensor, const TensorFormat& how, std::span<const float> values, int from,
                const Step& step);
};

// Of the steps that count.
struct LayerCounts {
  ConversionCounts weights;
  ConversionCounts activations;
  ConversionCounts errors;
  ConversionCounts weight_gradients;
  PruneCounts pruned;  // of every step

  LayerCounts& operator+=(const LayerCounts& other) {
    weights += other.weights;
    activations += other.activations;
    errors += other.errors;
    weight_gradients += other.weight_gradients;
    pruned += other.pruned;
    return *this;
  }
};

}  // namespace mantissa::train

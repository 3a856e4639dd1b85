// What a layer's quantizers and its pruner met.
#pragma once

#include "models/format/convert.hpp"
#include "models/sparsity/pruner.hpp"

namespace mantissa::train {

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

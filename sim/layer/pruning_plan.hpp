// Pruning thresholds of a step, from the gradients that arrive at its layers (Chmiel et al. 2021).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/sparsity/lognormal.hpp"
#include "sim/layer/layer_plan.hpp"

namespace mantissa {

class PruningPlan {
 public:
  explicit PruningPlan(PruningRule rule) : rule_(rule) {}

  // The gradient that arrives at a layer, before it is pruned. `recent` is what the layer's pruner met since
  // the last refresh, where somebody counts: it corrects the next threshold, and is cleared. Both must
  // outlive the refresh.
  void look(LayerPlan& layer, std::span<const float> gradient, PruneCounts* recent = nullptr);
  // Thresholds, and formats where the recipe chooses them, of all layers that were looked at.
  void refresh();
  // Nothing that was looked at counts: the step's gradients are not finite.
  void forget() { seen_.clear(); }

 private:
  struct Seen {
    LayerPlan* layer = nullptr;
    PruneCounts* recent = nullptr;
    LognormalFit fit;
    double largest = 0;         // finite magnitude
    std::optional<double> tau;  // of the magnitudes themselves, where the rule says so
  };

  PruningRule rule_;
  std::vector<Seen> seen_;
};

}  // namespace mantissa

// Pruning thresholds during a run: refreshed from the layers' gradients on a schedule (Chmiel et al. 2021).
#pragma once

#include <optional>
#include <vector>

#include "models/sparsity/lognormal.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/train/gemm_layer.hpp"

namespace mantissa::train {

class PruningPlan {
 public:
  explicit PruningPlan(PruningRule rule) : rule_(rule) {}

  // The gradient that arrives at a layer in a step of refreshment, before it is pruned.
  void look(GemmLayer& layer, std::span<const float> gradient);
  // After the step: thresholds, and formats where the recipe chooses them, of all layers that were looked at.
  void refresh();
  // Nothing that was looked at counts: the step's gradients are not finite.
  void forget() { seen_.clear(); }

 private:
  struct Seen {
    GemmLayer* layer = nullptr;
    LognormalFit fit;
    double largest = 0;         // finite magnitude
    std::optional<double> tau;  // of the magnitudes themselves, where the rule says so
  };
  // The target with the layer's correction; that of `quantile`, which is found in look(), is one refresh
  // older.
  static double corrected(double target, const LayerRecipe& layer);

  PruningRule rule_;
  std::vector<Seen> seen_;
};

}  // namespace mantissa::train

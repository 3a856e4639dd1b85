// Pruning thresholds during a run: refreshed from the layers' gradients on a schedule (Chmiel et al. 2021).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/sparsity/lognormal.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/train/gemm_layer.hpp"

namespace mantissa::train {

class PruningPlan {
 public:
  explicit PruningPlan(PruningRule rule) : rule_(rule) {}

  // Gradients of this step are to be looked at.
  bool refreshes(std::int64_t step) const { return step % rule_.refresh_steps == 0; }
  // The gradient that arrives at a layer in such a step, before it is pruned.
  void look(const GemmLayer& layer, std::span<const float> gradient);
  // After the step: thresholds, and formats where the recipe chooses them, of all layers that were looked at.
  void refresh(std::vector<GemmLayer*>& layers);

 private:
  struct Seen {
    std::uint16_t layer = 0;
    LognormalFit fit;
    std::optional<double> tau;  // of the magnitudes themselves, where the rule says so
  };
  PruningRule rule_;
  std::vector<Seen> seen_;
};

}  // namespace mantissa::train

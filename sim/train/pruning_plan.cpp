#include "sim/train/pruning_plan.hpp"

#include <algorithm>

#include "models/sparsity/empirical_threshold.hpp"
#include "models/sparsity/format_chooser.hpp"
#include "models/sparsity/sparsity_plan.hpp"

namespace mantissa::train {

void PruningPlan::look(const GemmLayer& layer, std::span<const float> gradient) {
  Seen seen{.layer = layer.layer().index, .fit = fit_lognormal(gradient), .tau = std::nullopt};
  seen.fit.sigma = std::min(seen.fit.sigma, max_sigma);
  if (rule_.threshold == PruningRule::Threshold::quantile) seen.tau = empirical_tau(gradient, rule_.sparsity);
  seen_.push_back(seen);
}

void PruningPlan::refresh(std::vector<GemmLayer*>& layers) {
  std::vector<LayerGradient> gradients;
  for (const Seen& seen : seen_) {
    gradients.push_back({.fit = seen.fit,
                         .elements = static_cast<double>(seen.fit.elements),
                         .min_cosine = rule_.min_cosine});
  }
  const std::vector<LayerThreshold> plan = plan_sparsity(gradients, rule_.sparsity, rule_.max_sparsity);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const GemmLayer* layer) {
      return layer->layer().index == seen_[i].layer;
    });
    LayerRecipe& layer = (*found)->layer();
    layer.tau = seen_[i].tau.value_or(plan[i].tau);
    if (rule_.choose_format) layer.errors.format = gradient_format(seen_[i].fit.sigma);
  }
  seen_.clear();
}

}  // namespace mantissa::train

#include "sim/layer/pruning_targets.hpp"

#include <algorithm>

namespace mantissa {

std::vector<LayerThreshold> pruning_targets(std::span<const LognormalFit> fits, const PruningRule& rule) {
  std::size_t largest = 0;
  for (const LognormalFit& fit : fits) largest = std::max(largest, fit.elements);
  std::vector<LayerGradient> gradients;
  gradients.reserve(fits.size());
  for (const LognormalFit& fit : fits) {
    LayerGradient gradient{.fit = fit, .elements = static_cast<double>(fit.elements)};
    if (fit.elements < largest) gradient.min_cosine = rule.min_cosine;
    gradients.push_back(gradient);
  }
  return plan_sparsity(gradients, rule.sparsity, rule.max_sparsity);
}

}  // namespace mantissa

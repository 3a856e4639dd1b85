#include "models/sparsity/sparsity_plan.hpp"

#include <algorithm>

namespace mantissa {
namespace {

LayerThreshold at_sparsity(double sparsity, const LognormalFit& fit) {
  const double tau = tau_for_sparsity(sparsity, fit);
  return {sparsity_at(tau, fit), tau};
}

LayerThreshold keeping_cosine(double sparsity, double min_cosine, const LognormalFit& fit) {
  const LayerThreshold wanted = at_sparsity(sparsity, fit);
  // Nothing is pruned at the smallest magnitude, so no direction is lost.
  if (wanted.tau <= fit.smallest) return wanted;
  const double tau = tau_for_cosine(min_cosine, fit);
  if (wanted.tau <= tau) return wanted;
  return {sparsity_at(tau, fit), tau};
}

}  // namespace

double remaining_sparsity(double target, double total_elements, double zero_elements, double rest_elements,
                          double max_sparsity) {
  if (rest_elements <= 0) return 0;
  return std::clamp((target * total_elements - zero_elements) / rest_elements, 0.0, max_sparsity);
}

std::vector<LayerThreshold> plan_sparsity(std::span<const LayerGradient> layers, double target,
                                          double max_sparsity) {
  std::vector<LayerThreshold> plan(layers.size());
  double total = 0;
  double rest = 0;
  double zeros = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerGradient& layer = layers[i];
    total += layer.elements;
    if (layer.min_cosine) {
      plan[i] = keeping_cosine(target, *layer.min_cosine, layer.fit);
      zeros += plan[i].sparsity * layer.elements;
    } else {
      rest += layer.elements;
    }
  }
  const double raised = remaining_sparsity(target, total, zeros, rest, max_sparsity);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].min_cosine) plan[i] = at_sparsity(raised, layers[i].fit);
  }
  return plan;
}

}  // namespace mantissa

// Heterogeneous sparsity: layers that must keep their direction are pruned less, the others make up for it
// (Chmiel et al. 2021).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/sparsity/lognormal.hpp"

namespace mantissa {

struct LayerGradient {
  LognormalFit fit;
  double elements = 0;  // weight of the layer in the total
  std::optional<double> min_cosine = std::nullopt;
};

struct LayerThreshold {
  double sparsity = 0;  // expected share of zeros
  double tau = 0;
};

// (S * total - pruned) / rest, kept within 0..max_sparsity: what the remaining layers must reach.
double remaining_sparsity(double target, double total_elements, double zero_elements, double rest_elements,
                          double max_sparsity);

// Layers with min_cosine take the target sparsity unless their cosine would fall below it; then their
// threshold comes from the cosine. The others share what is missing.
std::vector<LayerThreshold> plan_sparsity(std::span<const LayerGradient> layers, double target,
                                          double max_sparsity);

}  // namespace mantissa

// What a pruning rule asks of each layer of a network, given the fits of their gradients (Chmiel et al.
// 2021).
#pragma once

#include <span>
#include <vector>

#include "models/sparsity/sparsity_plan.hpp"
#include "sim/recipe/recipe.hpp"

namespace mantissa {

// One per fit. A floor of the cosine holds for all layers but the largest ones, which make up for what the
// others lack: noise near the loss goes on through every layer before it, and most elements lie far from it.
std::vector<LayerThreshold> pruning_targets(std::span<const LognormalFit> fits, const PruningRule& rule);

}  // namespace mantissa

// What a recipe means for one layer at one step: its arithmetic, formats, and the threshold of its pruner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/mac/lowering.hpp"
#include "models/norm/range_bn_tensor.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

struct LayerPlan {
  const trace::Layer* layer = nullptr;
  std::uint16_t index = 0;  // in the trace's list: part of every random stream
  Arithmetic arithmetic = Arithmetic::floating;
  TensorFormat errors;                       // the recipe's, or chosen for this layer
  std::optional<double> tau = std::nullopt;  // none: not pruned
  int loss_exponent = 0;                     // of its gradients, beyond what the recording already has
  const trace::RunStep* run = nullptr;       // of a run of this very recipe
};

// All layers of a step, in the trace's order. Thresholds come from the trace's run where it has them, else
// from the lognormal fit of the layers' gradients (Chmiel et al. 2021).
std::vector<LayerPlan> plan_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// The sizes of a conv2d or linear layer; none where its input or weight is not recorded.
std::optional<ConvShape> geometry_of(const trace::Trace& trace, std::uint32_t step,
                                     const trace::Layer& layer);

// Of a batch norm; none for other layers and where its input is not recorded.
std::optional<NormShape> norm_shape_of(const trace::Trace& trace, std::uint32_t step,
                                       const trace::Layer& layer);

// The arrays of codes or integers that a layer's three passes need; none for FP32.
std::vector<ArrayFormats> arrays_of(const LayerPlan& plan, const Recipe& recipe);

}  // namespace mantissa::replay

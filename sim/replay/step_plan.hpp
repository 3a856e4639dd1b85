// The layers of a recorded step as the recipe treats them: plans with the run's own registers, or with
// thresholds found in the step's gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "models/norm/norm_shape.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

struct PlannedLayer {
  std::uint32_t step = 0;
  const trace::Layer* layer = nullptr;
  LayerPlan plan;
};

// All layers of a step, in the trace's order. Registers come from the trace's run where it is one of this
// very recipe, thresholds also from what it says of any run; else from the gradients (Chmiel et al. 2021).
std::vector<PlannedLayer> plan_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// The gradients' exponent of two beyond what the recording already has.
int loss_exponent(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// The sizes of a conv2d or linear layer; none where its input or weight is not recorded.
std::optional<ConvShape> geometry_of(const trace::Trace& trace, std::uint32_t step,
                                     const trace::Layer& layer);

// Of a batch norm; none for other layers and where its input is not recorded.
std::optional<NormShape> norm_shape_of(const trace::Trace& trace, std::uint32_t step,
                                       const trace::Layer& layer);

// The arrays of codes or integers that a layer's three passes need; none for FP32.
std::vector<ArrayFormats> arrays_of(const LayerPlan& plan);

}  // namespace mantissa::replay

// The layers of a recorded step as the recipe treats them: plans with the run's own registers, or with
// thresholds found in the step's gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/block_job.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

// A batch norm's statistics that drains take. Of a norm: which of its passes need none of their own. Of a
// layer that multiplies: whether its forward pass, its input gradient drain through them.
struct FusedNorms {
  bool forward = false;
  bool backward = false;
  int x_bits = 8;           // of the norm's x, which the drain of the input gradient needs
  std::int64_t chunks = 1;  // of the norm behind the forward pass
  // Of the sums of the norm behind the forward pass, and of the one before the input gradient.
  std::int64_t forward_parts = 1;
  std::int64_t backward_parts = 1;
};

struct PlannedLayer {
  std::uint32_t step = 0;
  const trace::Layer* layer = nullptr;
  LayerPlan plan;
  FusedNorms fused = {};
};

// What the drain of a layer's pass takes.
DrainStatistics statistics_of(const PlannedLayer& layer, Pass pass);

// All layers of a step, in the trace's order. Registers come from the trace's run where it is one of this
// very recipe, thresholds also from what it says of any run; else from the gradients (Chmiel et al. 2021).
std::vector<PlannedLayer> plan_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// The gradients' exponent of two beyond what the recording already has.
int loss_exponent(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// The arrays of codes or integers that a layer's three passes need; none for FP32.
std::vector<ArrayFormats> arrays_of(const LayerPlan& plan);

}  // namespace mantissa::replay

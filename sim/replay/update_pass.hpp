// The update of a layer's weights as a pass of the second machine (ARITHMETIC.md 11, "On the accelerator").
#pragma once

#include <cstdint>

#include "sim/arch/stream_cycles.hpp"
#include "sim/energy/energy_actions.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::replay {

struct UpdatePass {
  StreamJob job;
  UpdateWork work;      // cost included
  std::string formats;  // "fp32 gradient, fp16 master, fp32 momentum -> e5m2"
};

// Of so many parameters, bias included.
UpdatePass update_pass(const Recipe& recipe, const LayerPlan& plan, const Architecture& arch,
                       std::int64_t parameters);

}  // namespace mantissa::replay

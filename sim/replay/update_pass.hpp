// The update of a layer's weights as a pass of the second machine (ARITHMETIC.md 11, "On the accelerator").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/arch/stream_cycles.hpp"
#include "sim/energy/energy_actions.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/machine/update_job.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/gemm_pass.hpp"
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

// The same with values, for a machine: weights as recorded, the gradient as the array has just left it. A
// trace has no momentum, hence it is zero, and no gradient of a bias, which is zero, too; rates are those
// that training starts with. No cost depends on any of them.
struct UpdateValues {
  StreamJob job;  // as UpdatePass has it
  std::vector<std::uint32_t> gradient;
  Format gradient_format = formats::fp32;
  std::vector<std::uint16_t> weights;
  WeightUpdateConfig config = {};
  DrawSource draws = {};
  std::optional<UpdatedOperand> operand = std::nullopt;
};

// Of FP16 masters. `gradient` is the pass that made `result`.
UpdateValues update_values(const Recipe& recipe, const LayerPlan& plan, const Step& step,
                           const RecordedOperand& weight, std::span<const float> bias,
                           const GemmPass& gradient, const GemmPassResult& result, const StreamJob& job);

}  // namespace mantissa::replay

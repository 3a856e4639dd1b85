#include "sim/replay/buffer_check.hpp"

#include <stdexcept>
#include <string>

#include "models/mac/lowering.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
void check_buffers(const trace::Trace& trace, const PlannedLayer& planned, const Architecture& arch) {
  const std::uint32_t step = planned.step;
  const trace::Layer* layer = planned.layer;
  const LayerPlan& plan = planned.plan;
  if (arch.dataflow != Dataflow::os_skip || !multiplies(layer->kind)) return;
  const std::optional<ConvShape> geometry = geometry_of(trace, step, *layer);
  if (!geometry) return;
  const auto check = [&](Pass pass, const OperandSite& a, const OperandSite& b) {
    const PassSides sides = sides_of(*geometry, pass);
    const bool fp32 = a.format.type.is_fp32();
    try {
      if (arch.in_blocks()) {
        check_fits(arch, {.shape = *geometry,
                          .pass = pass,
                          .outputs = {0, sides.m, 0, sides.n * geometry->groups},
                          .a_bits = a.format.type.bits(),
                          .b_bits = b.format.type.bits(),
                          .fp32 = fp32,
                          .statistics = statistics_of(planned, pass),
                          .x_bits = planned.fused.x_bits});
        return;
      }
      step_length(arch, {.m = sides.m,
                         .n = sides.n,
                         .k = sides.k,
                         .a_bits = a.format.type.bits(),
                         .b_bits = b.format.type.bits()});
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(trace.path().string() + ": step " + std::to_string(step) + ", layer " +
                                  in_quotes(layer->name) + ", pass " + std::string(name_of(pass)) + ": " +
                                  error.what());
    }
  };
  check(Pass::forward, plan.input(), plan.weight());
  if (trace.find(step, *layer, Role::grad_output) == nullptr) return;
  if (layer->input_gradient) check(Pass::input_gradient, plan.error(), plan.weight());
  check(Pass::weight_gradient, plan.error_for_weights().value_or(plan.error()), plan.input());
}

}  // namespace mantissa::replay

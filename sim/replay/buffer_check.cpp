#include "sim/replay/buffer_check.hpp"

#include <stdexcept>
#include <string>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/report/totals.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
namespace {

using trace::Role;

// Of an element in memory.
int bits_of(Arithmetic arithmetic, const TensorFormat& how) {
  switch (arithmetic) {
    case Arithmetic::fp32:
      return 32;
    case Arithmetic::floating:
      return how.format.bits();
    case Arithmetic::gemmlowp:
      return how.bits;
  }
  throw std::logic_error("an arithmetic without a width");
}

}  // namespace

void check_buffers(const trace::Trace& trace, std::uint32_t step, const LayerPlan& plan, const Recipe& recipe,
                   const Architecture& arch) {
  if (arch.dataflow != Dataflow::os_skip || plan.layer->kind == trace::LayerKind::batchnorm) return;
  const std::optional<ConvShape> geometry = geometry_of(trace, step, *plan.layer);
  if (!geometry) return;
  const auto check = [&](Pass pass, const TensorFormat& a, const TensorFormat& b) {
    const PassSides sides = sides_of(*geometry, pass);
    try {
      step_length(arch, {.m = sides.m,
                         .n = sides.n,
                         .k = sides.k,
                         .a_bits = bits_of(plan.arithmetic, a),
                         .b_bits = bits_of(plan.arithmetic, b)});
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(trace.path().string() + ": step " + std::to_string(step) + ", layer " +
                                  in_quotes(plan.layer->name) + ", pass " + std::string(name_of(pass)) +
                                  ": " + error.what());
    }
  };
  check(Pass::forward, recipe.activations, recipe.weights);
  if (trace.find(step, *plan.layer, Role::grad_output) == nullptr) return;
  if (plan.layer->input_gradient) check(Pass::input_gradient, plan.errors, recipe.weights);
  check(Pass::weight_gradient, recipe.errors_for_weights.value_or(plan.errors), recipe.activations);
}

}  // namespace mantissa::replay

#include "sim/replay/update_pass.hpp"

namespace mantissa::replay {
namespace {

constexpr int update_latency = 4;  // PipeStages of weight_update

}  // namespace

UpdatePass update_pass(const Recipe& recipe, const LayerPlan& plan, const Architecture& arch,
                       std::int64_t parameters) {
  const std::optional<TensorFormat> drained = plan.drain(Role::grad_weight);
  const ElementType gradient = drained ? drained->type : ElementType();
  const ElementType master(recipe.master_weights.format);
  const ElementType operand = plan.weight().format.type;
  const int momentum_bits = formats::fp32.bits();
  UpdatePass pass;
  pass.job = {.elements = parameters,
              .input_bits = {gradient.bits(), master.bits(), momentum_bits},
              .output_bits = {master.bits(), momentum_bits},
              .lanes = arch.update_lanes,
              .latency = update_latency};
  pass.formats = gradient.name() + " gradient, " + master.name() + " master, fp32 momentum";
  // A master weight that the array takes as it is needs no copy.
  if (!(operand == master)) {
    pass.job.output_bits.push_back(operand.bits());
    pass.formats += " -> " + operand.name();
    pass.work.quantized.push_back({operand, static_cast<std::uint64_t>(parameters)});
  }
  pass.work.elements = static_cast<std::uint64_t>(parameters);
  pass.work.quantized.push_back({master, pass.work.elements});
  if (recipe.master_weights.rounding.stochastic()) pass.work.draws += pass.work.elements;
  if (plan.weight().format.stochastic()) pass.work.draws += pass.work.elements;
  pass.work.cost = stream_cycles(arch, pass.job);
  return pass;
}

}  // namespace mantissa::replay

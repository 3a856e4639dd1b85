#include "sim/replay/step_plan.hpp"

#include <cmath>
#include <stdexcept>

#include "sim/layer/pruning_plan.hpp"
#include "sim/replay/own_run.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
namespace {

void take_registers(const trace::Trace& trace, const trace::RunStep& run, std::vector<PlannedLayer>& layers) {
  for (PlannedLayer& each : layers) {
    const LayerRegisters* registers = run.registers_of(each.layer->name);
    if (registers == nullptr) continue;
    try {
      each.plan.restore(*registers);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(trace.path().string() + ": registers of " + in_quotes(each.layer->name) +
                                  " at step " + std::to_string(run.step) + ": " + error.what());
    }
    each.plan.recorded = true;
  }
}

void find_thresholds(const trace::Trace& trace, std::uint32_t step, const PruningRule& rule,
                     std::vector<PlannedLayer>& layers) {
  PruningPlan thresholds(rule);
  for (PlannedLayer& each : layers) {
    if (!each.plan.prunes() || trace.find(step, *each.layer, Role::grad_output) == nullptr) continue;
    thresholds.look(each.plan, trace.values(step, *each.layer, Role::grad_output));
  }
  thresholds.refresh();
  if (!trace.run()) return;
  // Both are in the order of the trace's layers.
  auto recorded = trace.run()->tau.begin();
  for (PlannedLayer& each : layers) {
    if (recorded == trace.run()->tau.end()) break;
    if (recorded->first != each.layer->name) continue;
    if (each.plan.registers.tau) each.plan.registers.tau = recorded->second;
    ++recorded;
  }
}

}  // namespace

int loss_exponent(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  const LossScaleRule& rule = recipe.loss_scale;
  // A run of the same recipe with a dynamic scale had the scale that it had.
  if (rule.kind == LossScaleRule::Kind::dynamic && own_step(trace, step, recipe) != nullptr) return 0;
  const int wanted = rule.kind == LossScaleRule::Kind::none ? 0 : rule.exponent;
  if (!trace.run()) return wanted;
  const trace::RunStep* at = trace.run()->at(step);
  return wanted - static_cast<int>(std::lround(std::log2(at ? at->loss_scale : trace.run()->loss_scale)));
}

std::vector<PlannedLayer> plan_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  std::vector<LayerName> names;
  for (const trace::Layer& layer : trace.layers()) names.push_back({layer.name, layer.kind});
  std::vector<PlannedLayer> layers;
  for (LayerPlan& plan : plan_layers(recipe, names))
    layers.push_back({step, &trace.layers()[layers.size()], std::move(plan)});
  if (const trace::RunStep* run = own_step(trace, step, recipe)) {
    take_registers(trace, *run, layers);
  } else if (recipe.pruning) {
    find_thresholds(trace, step, *recipe.pruning, layers);
  }
  return layers;
}

DrainStatistics statistics_of(const PlannedLayer& layer, Pass pass) {
  if (pass == Pass::forward && layer.fused.forward) return DrainStatistics::forward;
  if (pass == Pass::input_gradient && layer.fused.backward) return DrainStatistics::backward;
  return DrainStatistics::none;
}

std::vector<ArrayFormats> arrays_of(const LayerPlan& plan) {
  if (!multiplies(plan.kind()) || plan.input().format.type.is_fp32()) return {};
  const OperandSite error = plan.error();
  const auto array = [&](const OperandSite& a, const OperandSite& b, Role result) {
    return array_formats(a.format.type, b.format.type, plan.accumulator(), plan.drain(result));
  };
  return {array(plan.input(), plan.weight(), Role::output), array(error, plan.weight(), Role::grad_input),
          array(plan.error_for_weights().value_or(error), plan.input(), Role::grad_weight)};
}

}  // namespace mantissa::replay

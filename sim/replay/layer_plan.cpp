#include "sim/replay/layer_plan.hpp"

#include <algorithm>
#include <cmath>

#include "models/sparsity/format_chooser.hpp"
#include "sim/recipe/pruning_targets.hpp"
#include "sim/replay/own_run.hpp"

namespace mantissa::replay {
namespace {

bool multiplies(const trace::Layer& layer) { return layer.kind != trace::LayerKind::batchnorm; }

// First and last layer with weights.
void exempt(std::vector<LayerPlan>& plans, const Recipe& recipe) {
  const auto is_gemm = [](const LayerPlan& plan) { return multiplies(*plan.layer); };
  const auto first = std::find_if(plans.begin(), plans.end(), is_gemm);
  const auto last = std::find_if(plans.rbegin(), plans.rend(), is_gemm);
  if (first == plans.end()) return;
  if (recipe.exempt_first) first->arithmetic = Arithmetic::fp32;
  if (recipe.exempt_last) last->arithmetic = Arithmetic::fp32;
}

// Gradients' exponent of two beyond what the recording already has. A run of the same recipe with a dynamic
// scale had the scale that it had.
int loss_exponent(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  const LossScaleRule& rule = recipe.loss_scale;
  if (rule.kind == LossScaleRule::Kind::dynamic && own_step(trace, step, recipe) != nullptr) return 0;
  const int wanted = rule.kind == LossScaleRule::Kind::none ? 0 : rule.exponent;
  if (!trace.run()) return wanted;
  const trace::RunStep* at = trace.run()->at(step);
  return wanted - static_cast<int>(std::lround(std::log2(at ? at->loss_scale : trace.run()->loss_scale)));
}

void prune_as_in_run(std::vector<LayerPlan>& plans) {
  for (LayerPlan& plan : plans) {
    if (!multiplies(*plan.layer) || plan.arithmetic != Arithmetic::floating) continue;
    if (const double* tau = plan.run->tau_of(plan.layer->name)) plan.tau = *tau;
    if (const Format* format = plan.run->error_format_of(plan.layer->name)) plan.errors.format = *format;
  }
}

void plan_pruning(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe,
                  std::vector<LayerPlan>& plans) {
  if (own_step(trace, step, recipe) != nullptr) {
    prune_as_in_run(plans);
    return;
  }
  const PruningRule& rule = *recipe.pruning;
  std::vector<LayerPlan*> pruned;
  std::vector<LognormalFit> fits;
  for (LayerPlan& plan : plans) {
    if (!multiplies(*plan.layer) || plan.arithmetic != Arithmetic::floating ||
        trace.find(step, *plan.layer, trace::Role::grad_output) == nullptr) {
      continue;
    }
    const std::vector<float> g = trace.values(step, *plan.layer, trace::Role::grad_output);
    LognormalFit fit = fit_lognormal(g);
    fit.sigma = std::min(fit.sigma, max_sigma);
    pruned.push_back(&plan);
    fits.push_back(fit);
    if (rule.choose_format) plan.errors.format = gradient_format(fit.sigma);
  }
  const std::vector<LayerThreshold> thresholds = pruning_targets(fits, rule);
  for (std::size_t i = 0; i < pruned.size(); ++i) pruned[i]->tau = thresholds[i].tau;
  if (!trace.run()) return;
  for (LayerPlan* plan : pruned) {
    for (const auto& [layer, tau] : trace.run()->tau) {
      if (layer == plan->layer->name) plan->tau = tau;
    }
  }
}

}  // namespace

std::vector<LayerPlan> plan_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  std::vector<LayerPlan> plans;
  for (const trace::Layer& layer : trace.layers()) {
    plans.push_back({.layer = &layer,
                     .index = static_cast<std::uint16_t>(plans.size()),
                     .arithmetic = recipe.arithmetic,
                     .errors = recipe.errors,
                     .loss_exponent = loss_exponent(trace, step, recipe),
                     .run = own_step(trace, step, recipe)});
  }
  exempt(plans, recipe);
  if (recipe.pruning) plan_pruning(trace, step, recipe, plans);
  return plans;
}

std::optional<ConvShape> geometry_of(const trace::Trace& trace, std::uint32_t step,
                                     const trace::Layer& layer) {
  if (trace.find(step, layer, trace::Role::input) == nullptr ||
      trace.find(step, layer, trace::Role::weight) == nullptr) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& input = trace.shape(step, layer, trace::Role::input);
  const std::vector<std::int64_t>& weight = trace.shape(step, layer, trace::Role::weight);
  ConvShape g;
  g.out_channels = weight[0];
  if (layer.kind == trace::LayerKind::linear) {
    g.in_channels = weight[1];
    for (std::size_t i = 0; i + 1 < input.size(); ++i) g.batch *= input[i];
    return g;
  }
  g.batch = input[0];
  g.in_channels = input[1];
  g.groups = layer.groups;
  g.stride = layer.stride;
  g.padding = layer.padding;
  g.dilation = layer.dilation;
  for (int axis = 0; axis < 2; ++axis) {
    g.in[axis] = input[2 + axis];
    g.kernel[axis] = weight[2 + axis];
  }
  g.out = g.fitting_out();
  return g;
}

std::optional<NormShape> norm_shape_of(const trace::Trace& trace, std::uint32_t step,
                                       const trace::Layer& layer) {
  if (multiplies(layer) || trace.find(step, layer, trace::Role::input) == nullptr) return std::nullopt;
  const std::vector<std::int64_t>& sizes = trace.shape(step, layer, trace::Role::input);
  NormShape shape{.batch = sizes[0], .channels = sizes[1]};
  for (std::size_t i = 2; i < sizes.size(); ++i) shape.spatial *= sizes[i];
  return shape;
}

std::vector<ArrayFormats> arrays_of(const LayerPlan& plan, const Recipe& recipe) {
  if (plan.arithmetic == Arithmetic::fp32 || !multiplies(*plan.layer)) return {};
  if (plan.arithmetic == Arithmetic::gemmlowp) {
    const auto array = [](const TensorFormat& a, const TensorFormat& b) {
      return ArrayFormats{.integers = IntegerWidths{a.bits, b.bits}};
    };
    return {array(recipe.activations, recipe.weights), array(plan.errors, recipe.weights),
            array(recipe.errors_for_weights.value_or(plan.errors), recipe.activations)};
  }
  const auto array = [&](const TensorFormat& a, const TensorFormat& b, const TensorFormat& c) {
    return ArrayFormats{.a = a.format,
                        .b = b.format,
                        .accumulator = recipe.accumulator.format,
                        .c = c.format,
                        .c_rounding = c.rounding,
                        .c_overflow = c.overflow};
  };
  return {
      array(recipe.activations, recipe.weights, recipe.activations),
      array(plan.errors, recipe.weights, recipe.errors),
      array(recipe.errors_for_weights.value_or(plan.errors), recipe.activations, recipe.weight_gradients)};
}

}  // namespace mantissa::replay

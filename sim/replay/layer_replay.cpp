#include "sim/replay/layer_replay.hpp"

#include <stdexcept>
#include <utility>

#include "models/kernels/quantize.hpp"
#include "models/mac/stream_id.hpp"
#include "models/sparsity/lognormal.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/energy/energy_actions.hpp"
#include "sim/replay/norm_stream.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/gradient.hpp"

namespace mantissa::replay {
namespace {

using trace::Role;

// A layer that the recipe leaves in FP32.
TensorFormat fp32_format() { return {}; }

std::string describe(const GemmPass& pass) {
  std::string text = pass.first->format_name() + " x " + pass.second->format_name() + " -> ";
  text += pass.first->arithmetic == Arithmetic::gemmlowp ? "int48 -> fp32" : pass.accumulator.name();
  if (pass.output) text += " -> " + pass.output->format.name() + " " + pass.output->rounding.name();
  return text;
}

NumberKind kind_of(const Operand& operand) {
  return operand.arithmetic == Arithmetic::gemmlowp ? NumberKind::integer(operand.range.bits)
                                                    : NumberKind::floating(operand.format);
}

// What the pass did besides multiplying, for the energy tables.
GemmWork work_of(const GemmPass& pass, const Architecture& arch, const GemmPassResult& result,
                 std::initializer_list<const Operand*> made) {
  GemmWork work{.a = kind_of(*pass.first),
                .b = kind_of(*pass.second),
                .c = NumberKind::floating(pass.output ? pass.output->format : formats::fp32),
                .accumulator = pass.accumulator,
                .k = result.sides.k,
                .bias = !pass.bias.empty(),
                .cost = result.cost,
                .quantized = {}};
  for (const Operand* operand : made) {
    if (operand->arithmetic != Arithmetic::fp32)
      work.quantized.push_back({kind_of(*operand), operand->values.size()});
    work.draws += operand->draws;
    work.pruned += operand->pruned;
  }
  // Every lane ticks in every row of every tile; an accumulator's generator at every rounding of a tile.
  if (pass.output && pass.output->rounding.stochastic())
    work.draws += result.cost.tiles * arch.rows * arch.cols;
  if (pass.first->arithmetic == Arithmetic::floating && pass.accumulator.stochastic())
    work.draws += result.cost.tiles * pass.accumulator.roundings(result.sides.k) * arch.cols;
  return work;
}

}  // namespace

LayerReplay::LayerReplay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                         Options options, Engine& engine, ReplayReport& report)
    : trace_(trace),
      recipe_(recipe),
      arch_(arch),
      options_(std::move(options)),
      engine_(engine),
      report_(report),
      own_results_(trace, recipe, arch, report.run_bits),
      staging_(arch) {}

void LayerReplay::run(std::uint32_t step, const LayerPlan& plan) {
  try {
    if (plan.layer->kind == trace::LayerKind::batchnorm) {
      run_norm(step, plan);
    } else {
      run_gemms(step, plan);
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(trace_.path().string() + ": step " + std::to_string(step) + ", layer " +
                                in_quotes(plan.layer->name) + ": " + error.what());
  }
}

void LayerReplay::note(std::uint32_t step, const LayerPlan& plan, const std::string& what) {
  report_.notes.push_back("step " + std::to_string(step) + ", layer " + plan.layer->name + ": " + what);
}

DrawSource LayerReplay::draws(std::uint32_t step, const LayerPlan& plan, Pass pass, RandomUnit unit,
                              mantissa::Operand side) const {
  const StreamId stream{.step = step, .layer = plan.index, .pass = pass, .unit = unit, .operand = side};
  return {.run_seed = report_.seed, .stream = stream.value(), .lanes = arch_.cols};
}

Operand LayerReplay::operand(std::uint32_t step, const LayerPlan& plan, Role role, TensorClass tensor_class,
                             const TensorFormat& how, Pass pass, mantissa::Operand side) {
  const bool error = tensor_class == TensorClass::errors;
  OperandRule rule{.arithmetic = plan.arithmetic,
                   .how = as_in_run(plan.run, *plan.layer, role, how),
                   .loss_exponent = error ? plan.loss_exponent : 0};
  rule.draws = draws(
      step, plan, pass,
      plan.arithmetic == Arithmetic::gemmlowp ? RandomUnit::gemmlowp_quantizer : RandomUnit::tensor_quantizer,
      side);
  if (error && plan.tau) {
    rule.pruner =
        Pruner{.tau = tau_code(*plan.tau, formats::fp32), .random_bits = recipe_.pruning->random_bits};
    rule.prune_draws = draws(step, plan, pass, RandomUnit::pruner, side);
  }
  Operand result = prepare_operand(trace_.values(step, *plan.layer, role), rule, options_.threads);
  result.report.step = step;
  result.report.layer = plan.layer->name;
  result.report.tensor_class = name_of(tensor_class);
  report_.tensors.push_back(result.report);
  return result;
}

void LayerReplay::run_gemms(std::uint32_t step, const LayerPlan& plan) {
  const std::optional<ConvShape> geometry = geometry_of(trace_, step, *plan.layer);
  if (!geometry) {
    const bool input = trace_.find(step, *plan.layer, Role::input) != nullptr;
    note(step, plan, std::string("left out, its ") + (input ? "weight" : "input") + " is not recorded");
    return;
  }
  const bool exempt = plan.arithmetic == Arithmetic::fp32;
  const TensorFormat plain = fp32_format();
  const Operand x = operand(step, plan, Role::input, TensorClass::activations,
                            exempt ? plain : recipe_.activations, Pass::forward, mantissa::Operand::a);
  const Operand w = operand(step, plan, Role::weight, TensorClass::weights, exempt ? plain : recipe_.weights,
                            Pass::forward, mantissa::Operand::b);
  std::vector<float> bias;
  if (trace_.find(step, *plan.layer, Role::bias) != nullptr)
    bias = trace_.values(step, *plan.layer, Role::bias);

  GemmPass pass{.geometry = *geometry,
                .pass = Pass::forward,
                .first = &x,
                .second = &w,
                .bias = bias,
                .accumulator = exempt ? Accumulator{} : recipe_.accumulator,
                .skip = arch_.skip_forward,
                .run_seed = report_.seed,
                .stream = {.step = step, .layer = plan.index}};
  const bool codes = plan.arithmetic == Arithmetic::floating;
  if (codes) pass.output = as_in_run(plan.run, *plan.layer, Role::output, recipe_.activations);
  run_pass(step, plan, pass, {&x, &w});

  if (trace_.find(step, *plan.layer, Role::grad_output) == nullptr) {
    note(step, plan, "forward only, its output gradient is not recorded");
    return;
  }
  const Operand g = operand(step, plan, Role::grad_output, TensorClass::errors, exempt ? plain : plan.errors,
                            Pass::input_gradient, mantissa::Operand::a);
  GradientReport gradient = trace::describe_gradient(g.values);
  gradient.step = step;
  gradient.layer = plan.layer->name;
  gradient.tau = plan.tau.value_or(0);
  report_.gradients.push_back(std::move(gradient));

  pass.bias = {};
  pass.first = &g;
  pass.skip = arch_.skip_gradients;
  pass.loss_exponent = plan.loss_exponent;
  const bool both = plan.layer->input_gradient;
  if (both) {
    pass.pass = Pass::input_gradient;
    if (codes) pass.output = as_in_run(plan.run, *plan.layer, Role::grad_input, recipe_.errors);
    run_pass(step, plan, pass, {&g});
  }
  pass.pass = Pass::weight_gradient;
  pass.second = &x;
  if (codes) pass.output = as_in_run(plan.run, *plan.layer, Role::grad_weight, recipe_.weight_gradients);
  if (recipe_.errors_for_weights && !exempt) {
    const Operand copy = operand(step, plan, Role::grad_output, TensorClass::errors,
                                 *recipe_.errors_for_weights, Pass::weight_gradient, mantissa::Operand::a);
    pass.first = &copy;
    run_pass(step, plan, pass, {&copy});
  } else if (both) {
    run_pass(step, plan, pass, {});
  } else {
    run_pass(step, plan, pass, {&g});
  }
}

std::vector<Energy> LayerReplay::energy_of(const ActionCounts& actions) {
  add(actions_, actions);
  std::vector<Energy> energy;
  for (const EnergyTable& table : report_.tables) energy.push_back(price(table, actions));
  return energy;
}

void LayerReplay::run_pass(std::uint32_t step, const LayerPlan& plan, GemmPass pass,
                           std::initializer_list<const Operand*> made) {
  // An integer of the GEMMLOWP quantizer is no zero that could be left out; other dataflows skip nothing.
  pass.skip = pass.skip && plan.arithmetic != Arithmetic::gemmlowp && arch_.dataflow == Dataflow::os_skip;
  const GemmPassResult result = run_gemm_pass(pass, arch_, options_.threads);
  engine_.run(pass, result, "step " + std::to_string(step) + ", layer " + plan.layer->name);
  own_results_.compare(step, *plan.layer, pass, result);

  PassReport out;
  out.step = step;
  out.layer = plan.layer->name;
  out.kind = plan.layer->kind;
  out.pass = pass.pass;
  out.gemm = shape_of(pass, result.sides);
  out.groups = pass.geometry.groups;
  out.formats = describe(pass);
  out.cost = result.cost;
  out.dense_cycles = result.dense_cycles;
  out.suppressed = result.suppressed;
  out.operand_sparsity =
      plan.arithmetic == Arithmetic::gemmlowp || result.a_elements == 0
          ? 0
          : 1 - static_cast<double>(result.a_nonzero) / static_cast<double>(result.a_elements);
  const double slots = static_cast<double>(arch_.rows) * arch_.cols * static_cast<double>(out.cost.cycles());
  out.utilization = slots == 0 ? 0 : static_cast<double>(out.cost.macs) / slots;
  out.accuracy = result.accuracy;
  out.energy = energy_of(gemm_actions(arch_, work_of(pass, arch_, result, made)));
  report_.passes.push_back(std::move(out));

  if (!options_.staging) return;
  const auto [m, n, k] = result.sides;
  for (const std::vector<std::uint16_t>& counts : result.nonzero) {
    if (pass.pass == Pass::forward || counts.empty()) {
      staging_.add_dense(m, n, k);
    } else {
      staging_.add_gradient(m, n, k, counts, 1, options_.threads);
    }
  }
}

void LayerReplay::run_norm(std::uint32_t step, const LayerPlan& plan) {
  for (const Role role : {Role::input, Role::gamma, Role::beta}) {
    if (trace_.find(step, *plan.layer, role) != nullptr) continue;
    note(step, plan, "left out, its " + std::string(name_of(role)) + " is not recorded");
    return;
  }
  const NormShape shape = *norm_shape_of(trace_, step, *plan.layer);
  const Operand x = operand(step, plan, Role::input, TensorClass::activations, recipe_.activations,
                            Pass::forward, mantissa::Operand::a);
  const std::vector<float> gamma = trace_.values(step, *plan.layer, Role::gamma);
  const std::vector<float> beta = trace_.values(step, *plan.layer, Role::beta);
  NormRule rule = recipe_.norm;
  rule.range = rule.range_of(shape.batch * shape.spatial);
  const NormLayer layer{.shape = shape, .x = &x, .gamma = gamma, .beta = beta, .rule = rule};
  finish_norm(step, plan, {.layer = &layer}, norm_forward(layer, options_.threads), x);

  if (trace_.find(step, *plan.layer, Role::grad_output) == nullptr) {
    note(step, plan, "forward only, its output gradient is not recorded");
    return;
  }
  const Operand g = operand(step, plan, Role::grad_output, TensorClass::errors, recipe_.errors,
                            Pass::input_gradient, mantissa::Operand::a);
  const NormPass pass{.layer = &layer,
                      .direction = NormDirection::backward,
                      .g = &g,
                      .gradient_draws = draws(step, plan, Pass::input_gradient,
                                              RandomUnit::gemmlowp_quantizer, mantissa::Operand::a)};
  finish_norm(step, plan, pass, norm_backward(layer, g, pass.gradient_draws, options_.threads), g);
}

void LayerReplay::finish_norm(std::uint32_t step, const LayerPlan& plan, NormPass pass, NormResult result,
                              const Operand& made) {
  const bool forward = pass.direction == NormDirection::forward;
  const Role role = forward ? Role::output : Role::grad_input;
  const NormShape& shape = pass.layer->shape;
  PassReport out;
  out.step = step;
  out.layer = plan.layer->name;
  out.kind = plan.layer->kind;
  out.pass = forward ? Pass::forward : Pass::input_gradient;
  out.gemm = {.m = shape.channels, .n = 1, .k = shape.batch * shape.spatial};
  out.formats = "batch norm, fp32";
  if (pass.layer->rule.kind == NormRule::Kind::range)
    out.formats = "range batch norm, chunks: " + std::to_string(pass.layer->rule.range.channel.chunks);

  pass.drain_draws = draws(step, plan, out.pass, RandomUnit::drain_quantizer, mantissa::Operand::output);
  int bits = 32;
  if (recipe_.arithmetic == Arithmetic::floating) {
    // The results leave through quantizers like the array's.
    const TensorFormat how =
        as_in_run(plan.run, *plan.layer, role, forward ? recipe_.activations : recipe_.errors);
    bits = how.format.bits();
    const std::vector<float> expected(result.reference.begin(), result.reference.end());
    pass.drain = Conversion{.to = how.format,
                            .rounding = how.rounding,
                            .overflow = how.overflow,
                            .via_fp16 = how.via_fp16,
                            .scale = scale_exponent(how, forward ? 0 : plan.loss_exponent, expected)};
    result.codes.resize(result.values.size());
    std::vector<float> values(result.values.size());
    ConversionCounts counts;
    kernels::quantize<std::uint8_t>(result.values, *pass.drain, pass.drain_draws, result.codes,
                                    options_.threads, &counts);
    kernels::dequantize(result.codes, *pass.drain, values, options_.threads);
    out.accuracy = measure_accuracy<double>(values, result.reference, Grid{how.format, pass.drain->scale},
                                            options_.threads);
    own_results_.compare(step, *plan.layer, role, values);
    add_counts(out.accuracy, counts);
    out.formats += " -> " + how.format.name() + " " + how.rounding.name();
  } else {
    own_results_.compare(step, *plan.layer, role, result.values);
    out.accuracy = measure_accuracy<double>(result.values, result.reference, Grid{}, options_.threads);
  }
  engine_.run_norm(pass, result, "step " + std::to_string(step) + ", layer " + plan.layer->name);

  out.gemm.a_bits = norm_bits(*pass.layer->x, recipe_.norm);
  out.gemm.b_bits = norm_bits(made, recipe_.norm);
  out.gemm.c_bits = bits;
  out.cost = norm_cycles(arch_,
                         {.channels = out.gemm.m,
                          .elements = out.gemm.k,
                          .x_bits = out.gemm.a_bits,
                          .result_bits = bits,
                          .gradient_bits = out.gemm.b_bits},
                         pass.direction);
  out.dense_cycles = out.cost.cycles();
  NormWork work{.range = recipe_.norm.kind == NormRule::Kind::range,
                .backward = !forward,
                .elements = result.values.size(),
                .dram_bytes = out.cost.dram_bytes,
                .sram_bytes = out.cost.sram_bytes,
                .quantized = {},
                .draws = made.draws};
  if (made.arithmetic != Arithmetic::fp32) work.quantized.push_back({kind_of(made), made.values.size()});
  if (recipe_.arithmetic == Arithmetic::floating) {
    const TensorFormat& how = forward ? recipe_.activations : recipe_.errors;
    work.quantized.push_back({NumberKind::floating(how.format), result.values.size()});
    if (how.rounding.stochastic()) work.draws += result.values.size();
  }
  out.energy = energy_of(norm_actions(arch_, work));
  report_.passes.push_back(std::move(out));
}

std::vector<StagingPoint> LayerReplay::staging() const { return staging_.points(); }

}  // namespace mantissa::replay

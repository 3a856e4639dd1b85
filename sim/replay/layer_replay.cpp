#include "sim/replay/layer_replay.hpp"

#include <stdexcept>
#include <utility>

#include "models/kernels/quantize.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/replay/accuracy.hpp"
#include "sim/replay/pass_work.hpp"
#include "sim/replay/update_pass.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/gradient.hpp"

namespace mantissa::replay {
namespace {

TensorClass class_of(Role role) {
  if (role == Role::weight) return TensorClass::weights;
  return is_gradient(role) ? TensorClass::errors : TensorClass::activations;
}

std::string describe(const GemmPass& pass, const GemmPassResult& result, const Accumulator& accumulator) {
  const ElementType a = pass.first->encoded.type();
  std::string text = a.short_name() + " x " + pass.second->encoded.type().short_name() + " -> ";
  text += a.is_integer() ? "int48 -> fp32" : accumulator.name();
  if (result.drained) text += " -> " + result.drained->type.name() + " " + result.drained->rounding.name();
  return text;
}

std::string describe(const NormLayer& layer) {
  std::string text = "batch norm, fp32";
  if (layer.rule.kind == NormRule::Kind::range)
    text = "range batch norm, chunks: " + std::to_string(layer.rule.range.channel.chunks);
  if (layer.rule.parts > 1) text += ", parts: " + std::to_string(layer.rule.parts);
  return text;
}

std::string place(const Step& step, const PlannedLayer& layer) {
  return "step " + std::to_string(step.number) + ", layer " + layer.layer->name;
}

}  // namespace

LayerReplay::LayerReplay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                         Options options, CrossCheck* check, ReplayReport& report)
    : trace_(trace),
      recipe_(recipe),
      arch_(arch),
      options_(std::move(options)),
      check_(check),
      report_(report),
      own_results_(trace, recipe, arch, report.run_bits),
      staging_(arch) {}

void LayerReplay::run(PlannedLayer& layer) {
  const Step step{.seed = report_.seed,
                  .number = layer.step,
                  .rows = arch_.rows,
                  .cols = arch_.cols,
                  .threads = options_.threads,
                  .refresh = true,
                  .loss_exponent = loss_exponent(trace_, layer.step, recipe_)};
  try {
    if (multiplies(layer.layer->kind)) {
      run_gemms(step, layer);
    } else {
      run_norm(step, layer);
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(trace_.path().string() + ": step " + std::to_string(layer.step) + ", layer " +
                                in_quotes(layer.layer->name) + ": " + error.what());
  }
}

void LayerReplay::note(const Step& step, const PlannedLayer& layer, const std::string& what) {
  report_.notes.push_back(place(step, layer) + ": " + what);
}

RecordedOperand LayerReplay::operand(const Step& step, PlannedLayer& layer, const OperandSite& site) {
  RecordedOperand result(values(step, layer, site.role), site, step, layer.plan);
  TensorReport tensor = result.report;
  tensor.step = step.number;
  tensor.layer = layer.layer->name;
  tensor.tensor_class = name_of(class_of(site.role));
  report_.tensors.push_back(std::move(tensor));
  return result;
}

void LayerReplay::count_gradient(const Step& step, const PlannedLayer& layer,
                                 std::span<const float> gradient) {
  GradientReport report = trace::describe_gradient(gradient);
  report.step = step.number;
  report.layer = layer.layer->name;
  report.tau = layer.plan.registers.tau.value_or(0);
  report_.gradients.push_back(std::move(report));
}

void LayerReplay::run_gemms(const Step& step, PlannedLayer& layer) {
  const std::optional<ConvShape> geometry = geometry_of(trace_, step.number, *layer.layer);
  if (!geometry) {
    const char* missing = recorded(step, layer, Role::input) ? "weight" : "input";
    note(step, layer, std::string("left out, its ") + missing + " is not recorded");
    return;
  }
  const RecordedOperand x = operand(step, layer, layer.plan.input());
  const RecordedOperand w = operand(step, layer, layer.plan.weight());
  std::vector<float> bias;
  if (recorded(step, layer, Role::bias)) bias = values(step, layer, Role::bias);
  GemmPass pass{.geometry = *geometry,
                .pass = Pass::forward,
                .first = &x,
                .second = &w,
                .bias = bias,
                .skip = arch_.skip_forward,
                .statistics = statistics_of(layer, Pass::forward),
                .chunks = layer.fused.chunks,
                .parts = layer.fused.forward_parts};
  run_pass(step, layer, pass, {&x, &w});

  if (!recorded(step, layer, Role::grad_output)) {
    note(step, layer, "forward only, its output gradient is not recorded");
    return;
  }
  const RecordedOperand g = operand(step, layer, layer.plan.error());
  count_gradient(step, layer, g.values);
  pass = {.geometry = *geometry,
          .pass = Pass::input_gradient,
          .first = &g,
          .second = &w,
          .skip = arch_.skip_gradients,
          .statistics = statistics_of(layer, Pass::input_gradient),
          .x_bits = layer.fused.x_bits,
          .parts = layer.fused.backward_parts,
          .norm = &norm_};
  const bool both = layer.layer->input_gradient;
  if (both) run_pass(step, layer, pass, {&g});
  pass.pass = Pass::weight_gradient;
  pass.statistics = DrainStatistics::none;
  pass.second = &x;
  const auto run_weight_gradient = [&](std::initializer_list<const RecordedOperand*> made) {
    run_update(step, layer, w, bias, pass, run_pass(step, layer, pass, made));
  };
  if (const std::optional<OperandSite> site = layer.plan.error_for_weights()) {
    const RecordedOperand copy = operand(step, layer, *site);
    pass.first = &copy;
    run_weight_gradient({&copy});
  } else if (both) {
    run_weight_gradient({});
  } else {
    run_weight_gradient({&g});
  }
}

void LayerReplay::run_update(const Step& step, const PlannedLayer& layer, const RecordedOperand& weight,
                             std::span<const float> bias, const GemmPass& gradient,
                             const GemmPassResult& result) {
  if (!arch_.in_blocks() || arch_.update_lanes == 0) return;
  const auto parameters = static_cast<std::int64_t>(weight.values.size() + bias.size());
  const UpdatePass update = update_pass(recipe_, layer.plan, arch_, parameters);
  if (check_ != nullptr && recipe_.master_weights.format == formats::fp16) {
    check_->run_update(update_values(recipe_, layer.plan, step, weight, bias, gradient, result, update.job),
                       place(step, layer));
  }
  PassReport out = report_of(step, layer, Pass::update);
  out.gemm = {.m = parameters, .n = 1, .k = 1};
  out.formats = update.formats;
  out.cost = update.work.cost;
  out.cost.dram_bytes_unique = out.cost.tensor_bytes;
  out.dense_cycles = out.cost.cycles();
  out.accuracy = measure_accuracy<double>({}, {}, std::nullopt, 1);  // a cost, and no results
  out.energy = energy_of(update_actions(arch_, update.work));
  report_.passes.push_back(std::move(out));
}

std::vector<Energy> LayerReplay::energy_of(const ActionCounts& actions) {
  add(actions_, actions);
  std::vector<Energy> energy;
  for (EnergyTable& table : report_.tables) {
    // A price that a rule gives is found once.
    for (const auto& [action, count] : actions) table.prices[action] = price_of(table, action);
    energy.push_back(price(table, actions));
  }
  return energy;
}

PassReport LayerReplay::report_of(const Step& step, const PlannedLayer& layer, Pass pass) const {
  PassReport out;
  out.step = step.number;
  out.layer = layer.layer->name;
  out.kind = layer.layer->kind;
  out.pass = pass;
  return out;
}

GemmPassResult LayerReplay::run_pass(const Step& step, PlannedLayer& layer, GemmPass pass,
                                     std::initializer_list<const RecordedOperand*> made) {
  const bool integers = pass.first->encoded.type().is_integer();
  // An integer of the GEMMLOWP quantizer is no zero that could be left out; other dataflows skip nothing.
  pass.skip = pass.skip && !integers && arch_.dataflow == Dataflow::os_skip;
  pass.packed = pass.pass != Pass::forward && pass.first->encoded.type().is_code() && arch_.in_blocks() &&
                arch_.gradient_storage == GradientStorage::packed;
  GemmPassResult result = run_gemm_pass(pass, layer.plan, step, arch_);
  if (check_ != nullptr) check_->run(pass, result, layer.plan, step, place(step, layer));
  own_results_.compare(step.number, *layer.layer, pass, result);

  const PassCost cost = cost_of(pass, result, layer.plan, arch_, step.threads);
  PassReport out = report_of(step, layer, pass.pass);
  out.gemm = shape_of(pass, result);
  out.groups = pass.geometry.groups;
  out.formats = describe(pass, result, layer.plan.accumulator());
  out.cost = cost.cost;
  out.dense_cycles = cost.dense_cycles;
  out.scheduled_macs = cost.scheduled_macs;
  out.mapping = cost.mapping;
  out.suppressed = result.suppressed;
  if (!integers && result.a_elements != 0)
    out.operand_sparsity = 1 - static_cast<double>(result.a_nonzero) / static_cast<double>(result.a_elements);
  const double slots = static_cast<double>(arch_.rows) * arch_.cols * static_cast<double>(out.cost.cycles());
  out.utilization = slots == 0 ? 0 : static_cast<double>(out.cost.macs) / slots;
  out.accuracy = result.accuracy;
  out.accumulator = result.accumulator;
  out.energy = energy_of(gemm_actions(arch_, gemm_work(pass, result, cost.cost, layer.plan, arch_, made)));
  for (Energy& energy : out.energy) energy.has_total = arch_.dataflow == Dataflow::os_skip;
  show_timeline(pass, result, layer.plan, cost, out);
  report_.passes.push_back(std::move(out));

  if (!options_.staging) return result;
  const auto [m, n, k] = result.sides;
  for (const std::vector<std::uint16_t>& counts : result.nonzero) {
    if (pass.pass == Pass::forward || counts.empty()) {
      staging_.add_dense(m, n, k);
    } else {
      staging_.add_gradient(m, n, k, counts, 1, options_.threads);
    }
  }
  return result;
}

void LayerReplay::show_timeline(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                                const PassCost& cost, const PassReport& out) {
  if (arch_.dataflow != Dataflow::os_skip) return;
  if (!options_.timeline.empty() && out.layer != options_.timeline) return;
  std::optional<TimelineReport>& longest = report_.timeline;
  if (longest && out.cost.cycles() <= longest->cost.cycles()) return;
  longest = {.step = out.step,
             .layer = out.layer,
             .pass = out.pass,
             .mapping = out.mapping,
             .cost = out.cost,
             .timeline = timeline_of(pass, result, plan, arch_, cost, options_.threads)};
}

void LayerReplay::run_norm(const Step& step, PlannedLayer& layer) {
  for (const Role role : {Role::input, Role::gamma, Role::beta}) {
    if (recorded(step, layer, role)) continue;
    note(step, layer, "left out, its " + std::string(name_of(role)) + " is not recorded");
    return;
  }
  RecordedOperand x = operand(step, layer, layer.plan.input());
  const std::vector<float> gamma = values(step, layer, Role::gamma);
  const std::vector<float> beta = values(step, layer, Role::beta);
  const NormShape shape = *norm_shape_of(trace_, step.number, *layer.layer);
  const NormLayer norm{.shape = shape,
                       .x = &x,
                       .gamma = gamma,
                       .beta = beta,
                       .rule = layer.plan.norm(shape.per_channel()),
                       .quantizes = layer.plan.norm_quantizes()};
  const NormResult forward = norm_forward(norm, step.threads);
  finish_norm(step, layer, {.layer = &norm}, forward, x);

  if (!recorded(step, layer, Role::grad_output)) {
    note(step, layer, "forward only, its output gradient is not recorded");
    return;
  }
  const RecordedOperand g = operand(step, layer, layer.plan.error());
  const NormPass pass{.layer = &norm,
                      .direction = NormDirection::backward,
                      .g = &g,
                      .gradient_draws = layer.plan.draws(step, Pass::input_gradient,
                                                         RandomUnit::gemmlowp_quantizer, Operand::a)};
  finish_norm(step, layer, pass, norm_backward(norm, g, forward, pass.gradient_draws, step.threads), g);
  if (check_ == nullptr || !layer.fused.backward) return;
  norm_ = {std::move(x), gamma, {}, {}};
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    const bool range = forward.saved.has_value();
    norm_.mean.push_back(range ? forward.saved->channels[channel].mean : forward.standard[channel].mean);
    norm_.inv.push_back(range ? forward.saved->channels[channel].inv : forward.standard[channel].inv);
  }
}

void LayerReplay::drain_norm(const Step& step, PlannedLayer& layer, const TensorFormat& format, Role role,
                             NormPass& pass, NormResult& result, PassReport& out) {
  const std::vector<float> expected(result.reference.begin(), result.reference.end());
  const int scale = layer.plan.scale(step, role, format, expected);
  pass.drain = layer.plan.drain_conversion(step, format, scale);
  result.codes.resize(result.values.size());
  ConversionCounts counts;
  kernels::quantize<std::uint8_t>(result.values, *pass.drain, pass.drain_draws, result.codes, step.threads,
                                  &counts);
  std::vector<float> values(result.values.size());
  kernels::dequantize(result.codes, *pass.drain, values, step.threads);
  out.accuracy =
      measure_accuracy<double>(values, result.reference, Grid{format.type.format(), scale}, step.threads);
  add_counts(out.accuracy, counts);
  own_results_.compare(step.number, *layer.layer, role, values);
  out.formats += " -> " + format.type.name() + " " + format.rounding.name();
}

void LayerReplay::finish_norm(const Step& step, PlannedLayer& layer, NormPass pass, NormResult result,
                              const RecordedOperand& made) {
  const bool forward = pass.direction == NormDirection::forward;
  const Role role = forward ? Role::output : Role::grad_input;
  PassReport out = report_of(step, layer, forward ? Pass::forward : Pass::input_gradient);
  out.formats = describe(*pass.layer);
  pass.drain_draws = layer.plan.draws(step, out.pass, RandomUnit::drain_quantizer);
  // The results leave through quantizers like the array's.
  const std::optional<TensorFormat> drained = layer.plan.drain(role);
  if (drained) {
    drain_norm(step, layer, *drained, role, pass, result, out);
  } else {
    own_results_.compare(step.number, *layer.layer, role, result.values);
    out.accuracy = measure_accuracy<double>(result.values, result.reference, Grid{}, step.threads);
  }
  pass.fused = arch_.in_blocks() && arch_.norm_fusion == NormFusion::drain && !pass.layer->quantizes;
  pass.statistics_taken = forward ? layer.fused.forward : layer.fused.backward;
  // Standard batch norm has no unit.
  if (check_ != nullptr && result.saved) check_->run_norm(pass, result, place(step, layer));

  out.gemm = {.m = pass.layer->shape.channels,
              .n = 1,
              .k = pass.layer->shape.per_channel(),
              .a_bits = norm_bits(*pass.layer, *pass.layer->x),
              .b_bits = norm_bits(*pass.layer, made),
              .c_bits = drained ? drained->type.bits() : formats::fp32.bits()};
  const NormStreams streams{.channels = out.gemm.m,
                            .elements = out.gemm.k,
                            .x_bits = out.gemm.a_bits,
                            .result_bits = out.gemm.c_bits,
                            .gradient_bits = out.gemm.b_bits,
                            .parts = pass.layer->rule.parts};
  if (pass.fused) {
    out.cost = fused_norm_cycles(arch_, streams, pass.direction, pass.statistics_taken);
    out.mapping = pass.statistics_taken ? "statistics at the drain" : "statistics in a sweep";
  } else {
    out.cost = norm_cycles(arch_, streams, pass.direction);
    out.cost.tensor_bytes = out.cost.dram_bytes_unique;
  }
  out.dense_cycles = out.cost.cycles();
  out.energy = energy_of(norm_actions(arch_, norm_work(pass, drained, out.cost, made)));
  report_.passes.push_back(std::move(out));
}

}  // namespace mantissa::replay

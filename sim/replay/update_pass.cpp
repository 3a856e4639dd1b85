#include "sim/replay/update_pass.hpp"

#include <algorithm>

#include "models/kernels/quantize.hpp"
#include "models/mac/stream_id.hpp"

namespace mantissa::replay {
namespace {

// The defaults of `mantissa train`.
constexpr WeightUpdateConfig usual_rates{.learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 5e-4F};

// The copy of the next step's operand: through the quantizer that made this step's, its scale or its range
// carried over.
std::optional<UpdatedOperand> operand_of(const LayerPlan& plan, const Step& step,
                                         const RecordedOperand& weight) {
  const ElementType type = weight.encoded.type();
  const OperandSite site = plan.weight();
  UpdatedOperand operand{.how = site.format.encoding(weight.encoded.scale())};
  if (type.is_integer()) operand.range = weight.encoded.as<EncodedTensor::Integers>().range;
  Step next = step;
  ++next.number;
  const RandomUnit unit = type.is_integer() ? RandomUnit::gemmlowp_quantizer : RandomUnit::tensor_quantizer;
  operand.draws = plan.draws(next, site.pass, unit, site.side);
  return operand;
}

}  // namespace

UpdatePass update_pass(const Recipe& recipe, const LayerPlan& plan, const Architecture& arch,
                       std::int64_t parameters) {
  const std::optional<TensorFormat> drained = plan.drain(Role::grad_weight);
  const ElementType gradient = drained ? drained->type : ElementType();
  const ElementType master(recipe.master_weights.format);
  const ElementType operand = plan.weight().format.type;
  UpdatePass pass;
  // A master weight that the array takes as it is needs no copy.
  const bool copies = !(operand == master);
  pass.job = update_stream(parameters, gradient, master, copies ? std::optional(operand) : std::nullopt,
                           arch.update_lanes);
  pass.formats = gradient.name() + " gradient, " + master.name() + " master, fp32 momentum";
  if (copies) {
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

UpdateValues update_values(const Recipe& recipe, const LayerPlan& plan, const Step& step,
                           const RecordedOperand& weight, std::span<const float> bias,
                           const GemmPass& gradient, const GemmPassResult& result, const StreamJob& job) {
  UpdateValues values;
  values.job = job;
  values.gradient = output_codes(gradient, result, plan, step);
  values.gradient.resize(weight.values.size() + bias.size());
  if (result.drained) values.gradient_format = result.drained->type.format();
  std::vector<float> masters = weight.values;
  masters.insert(masters.end(), bias.begin(), bias.end());
  values.weights.resize(masters.size());
  kernels::quantize<std::uint16_t>(masters, {.to = formats::fp16}, {}, values.weights, step.threads);
  values.config = usual_rates;
  values.config.rounding = recipe.master_weights.rounding;
  // Takes away what the drain's quantizer has multiplied by.
  values.config.unscale = UnscaleByExponent{std::clamp(result.output_scale, -127, 128)};
  values.draws = plan.draws(step, Pass::update, RandomUnit::weight_update);
  if (job.output_bits.size() > 2) values.operand = operand_of(plan, step, weight);
  return values;
}

}  // namespace mantissa::replay

#include "sim/layer/layer_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/kernels/prune.hpp"
#include "models/quantize/quantizer.hpp"
#include "models/sparsity/lognormal.hpp"
#include "sim/layer/scale_exponent.hpp"

namespace mantissa {

LayerPlan::LayerPlan(const Recipe& recipe, std::string name, LayerKind kind, std::uint16_t index, bool exempt)
    : recipe_(&recipe), name_(std::move(name)), kind_(kind), index_(index), exempt_(exempt) {}

TensorFormat LayerPlan::format(Role role) const {
  if (exempt_) return {};
  switch (role) {
    case Role::input:
    case Role::output:
      return recipe_->activations;
    case Role::weight:
      return recipe_->weights;
    case Role::grad_output: {
      TensorFormat errors = recipe_->errors;
      if (registers.error_format) errors.type = *registers.error_format;
      return errors;
    }
    case Role::grad_input:
      return recipe_->errors;
    case Role::grad_weight:
      return recipe_->weight_gradients;
    case Role::bias:
    case Role::gamma:
    case Role::beta:
      return {};
  }
  throw std::logic_error("a role without a format");
}

OperandSite LayerPlan::input() const {
  return {.role = Role::input, .format = format(Role::input), .pass = Pass::forward, .side = Operand::a};
}

OperandSite LayerPlan::weight() const {
  return {.role = Role::weight, .format = format(Role::weight), .pass = Pass::forward, .side = Operand::b};
}

OperandSite LayerPlan::error() const {
  return {.role = Role::grad_output,
          .format = format(Role::grad_output),
          .pass = Pass::input_gradient,
          .side = Operand::a};
}

std::optional<OperandSite> LayerPlan::error_for_weights() const {
  if (exempt_ || !recipe_->errors_for_weights) return std::nullopt;
  return OperandSite{.role = Role::grad_output,
                     .format = *recipe_->errors_for_weights,
                     .pass = Pass::weight_gradient,
                     .side = Operand::a};
}

std::optional<TensorFormat> LayerPlan::drain(Role role) const {
  if (exempt_ || !recipe_->drains_codes()) return std::nullopt;
  return format(role);
}

void LayerPlan::restore(const LayerRegisters& saved) {
  if (saved.tau && !prunes()) throw std::invalid_argument("tau: the recipe does not prune this layer");
  if (saved.error_format && !(prunes() && recipe_->pruning->choose_format))
    throw std::invalid_argument("error_format: the recipe chooses none for this layer");
  if (saved.error_format && saved.error_format->bits() > 8) {
    throw std::invalid_argument("error_format: " + saved.error_format->name() + " has " +
                                std::to_string(saved.error_format->bits()) +
                                " bits; the multipliers take at most 8");
  }
  registers = saved;
}

std::optional<Pruner> LayerPlan::pruner() const {
  if (!registers.tau || !prunes()) return std::nullopt;
  return Pruner{.tau = tau_code(*registers.tau, formats::fp32), .random_bits = recipe_->pruning->random_bits};
}

NormRule LayerPlan::norm(std::int64_t n) const { return recipe_->norm.fitting(n); }

bool LayerPlan::norm_quantizes() const {
  return recipe_->norm.kind == NormRule::Kind::range && recipe_->norm.range.precision == NormPrecision::int8;
}

int LayerPlan::scale(const Step& step, Role role, const TensorFormat& format, std::span<const float> values,
                     int from) {
  std::optional<int>& exponent = registers.scale_of(role);
  // A fixed rule needs no register: the two copies of the errors share one.
  if (recorded && exponent && format.scale != TensorFormat::Scale::fixed) return *exponent;
  const auto taken = [&] {
    const int extra = is_gradient(role) ? step.loss_exponent : 0;
    return std::clamp(scale_exponent(format, extra, values) + from, min_quantizer_scale, max_quantizer_scale);
  };
  switch (format.scale) {
    case TensorFormat::Scale::fixed:
      from = 0;  // the rule does not look at the values
      exponent = taken();
      break;
    case TensorFormat::Scale::max:
      exponent = taken();
      break;
    case TensorFormat::Scale::centre:
      if (step.refresh) exponent = taken();
      break;
  }
  return exponent.value_or(0);
}

Conversion LayerPlan::drain_conversion(const Step& step, const TensorFormat& format, int exponent) const {
  if (exponent < min_quantizer_scale || exponent > max_quantizer_scale) {
    throw std::invalid_argument("the drain quantizer would need a scale of 2^" + std::to_string(exponent) +
                                "; its register holds " + std::to_string(min_quantizer_scale) + ".." +
                                std::to_string(max_quantizer_scale));
  }
  Encoding how = format.encoding(exponent);
  how.rounding = step.rounding(how.rounding);
  return how.conversion();
}

std::optional<PruneCounts> LayerPlan::prune(const Step& step, std::span<const float> errors,
                                            std::vector<float>& pruned) const {
  const std::optional<Pruner> with = pruner();
  if (!with) return std::nullopt;
  pruned.resize(errors.size());
  return kernels::prune(errors, *with, draws(step, Pass::input_gradient, RandomUnit::pruner), pruned, {},
                        step.threads);
}

void LayerPlan::encode(const Step& step, const OperandSite& site, std::span<const float> numbers,
                       EncodedTensor& tensor, EncodeOptions options) {
  const ElementType& type = site.format.type;
  Encoding how = site.format.encoding(type.is_code() ? scale(step, site.role, site.format, numbers) : 0);
  how.rounding = step.rounding(how.rounding);
  options.threads = step.threads;
  const RandomUnit unit = type.is_integer() ? RandomUnit::gemmlowp_quantizer : RandomUnit::tensor_quantizer;
  mantissa::encode(numbers, how, draws(step, site.pass, unit, site.side), tensor, options);
}

std::vector<LayerPlan> plan_layers(const Recipe& recipe, std::span<const LayerName> layers) {
  const auto is_gemm = [](const LayerName& layer) { return multiplies(layer.kind); };
  const auto first = std::find_if(layers.begin(), layers.end(), is_gemm);
  const auto last = std::find_if(layers.rbegin(), layers.rend(), is_gemm);
  std::vector<LayerPlan> plans;
  plans.reserve(layers.size());
  for (const LayerName& layer : layers) {
    const bool exempt = is_gemm(layer) && ((recipe.exempt_first && &layer == &*first) ||
                                           (recipe.exempt_last && &layer == &*last));
    plans.emplace_back(recipe, layer.name, layer.kind, static_cast<std::uint16_t>(plans.size()), exempt);
  }
  return plans;
}

}  // namespace mantissa

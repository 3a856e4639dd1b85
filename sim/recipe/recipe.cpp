#include "sim/recipe/recipe.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/mac/fp8_mul.hpp"
#include "models/random/lfsr.hpp"

namespace mantissa {
namespace {

// Messages begin with the key that is wrong.
[[noreturn]] void refuse(const std::string& key, const std::string& what) {
  throw std::invalid_argument(key + ": " + what);
}

void check_share(const std::string& key, double value) {
  if (!(value >= 0 && value < 1)) refuse(key, "must be at least 0 and below 1");
}

// Every unit draws 16 steps of its generator at a time, which bounds the random bits (ARITHMETIC.md 3).
void check_random_bits(const std::string& key, int bits) {
  if (bits < 1 || bits > Lfsr::default_leap) {
    refuse(key, std::to_string(bits) + " random bits; a draw has 1.." + std::to_string(Lfsr::default_leap));
  }
}

void check_rounding(const std::string& key, const Rounding& rounding) {
  if (rounding.stochastic()) check_random_bits(key + ".rounding", rounding.random_bits);
}

void check_gemmlowp_rounding(const std::string& key, const Rounding& rounding) {
  if (!nearest_or_stochastic(traits_of(rounding.mode)))
    refuse(key, "a gemmlowp quantizer rounds " + rounding_names(nearest_or_stochastic));
}

void check_scale(const std::string& key, const TensorFormat& tensor) {
  if (tensor.scale_exponent < -128 || tensor.scale_exponent > 127)
    refuse(key + ".scale_exponent", "must be -128..127");
}

// Two operands of one GEMM; `of` says which. Their types are those of the arithmetic.
void check_pair(const std::string& key, const ElementType& a, const ElementType& b, const std::string& of) {
  if (a.is_code()) {
    try {
      check_exact_product(a.format(), b.format());
    } catch (const std::invalid_argument& error) {
      refuse(key, "the " + of + " multiplies " + a.name() + " by " + b.name() + ": " + error.what());
    }
  } else if (a.is_integer() && a.bits() == 16 && b.bits() == 16) {
    // ARITHMETIC.md 5, "Integer GEMM".
    refuse(key, "both operands of the " + of + " have 16 bits; at most one may");
  }
}

void check_tensor(const Recipe& recipe, const std::string& key, const TensorFormat& tensor, bool operand) {
  check_rounding(key, tensor.rounding);
  check_scale(key, tensor);
  const ElementType& type = tensor.type;
  switch (recipe.arithmetic) {
    case Arithmetic::fp32:
      if (!type.is_fp32()) refuse(key + ".format", type.name() + " with arithmetic fp32; it must be fp32");
      break;
    case Arithmetic::floating:
      if (operand && type.bits() > 8) {
        refuse(key + ".format",
               type.name() + " has " + std::to_string(type.bits()) + " bits; the multipliers take at most 8");
      }
      if (!exact_in_fp32(type.format()))
        refuse(key + ".format", type.name() + " reaches beyond fp32; choose a smaller range");
      break;
    case Arithmetic::gemmlowp:
      if (operand && type.bits() != 8 && type.bits() != 16) refuse(key + ".bits", "must be 8 or 16");
      if (!operand && !type.is_fp32()) refuse(key + ".bits", "must be 32: sums of gemmlowp stay FP32");
      check_gemmlowp_rounding(key + ".rounding", tensor.rounding);
      break;
  }
}

void check_accumulator(const Recipe& recipe) {
  const Accumulator& accumulator = recipe.accumulator;
  try {
    accumulator.check();
  } catch (const std::invalid_argument& error) {
    refuse("accumulator", error.what());
  }
  check_rounding("accumulator", accumulator.rounding);
  if (accumulator.kind == Accumulator::Kind::chunk && accumulator.inner_rounding.stochastic())
    check_random_bits("accumulator.inner_rounding", accumulator.inner_rounding.random_bits);
  if (recipe.weights.type.is_fp32() && !accumulator.is_fp32_rne())
    refuse("accumulator", "arithmetic fp32 accumulates in fp32, rne, plain");
}

void check_loss_scale(const LossScaleRule& rule) {
  LossScaleConfig config = rule.dynamic;
  config.initial_exponent = rule.exponent;
  try {
    config.check();
  } catch (const std::invalid_argument& error) {
    refuse("loss_scale", error.what());
  }
}

void check_pruning(const Recipe& recipe, const PruningRule& rule) {
  check_share("pruning.sparsity", rule.sparsity);
  check_share("pruning.max_sparsity", rule.max_sparsity);
  if (rule.max_sparsity < rule.sparsity) refuse("pruning.max_sparsity", "is below pruning.sparsity");
  check_random_bits("pruning.random_bits", rule.random_bits);
  if (rule.min_cosine && !(*rule.min_cosine > 0 && *rule.min_cosine < 1))
    refuse("pruning.min_cosine", "must be above 0 and below 1");
  if (rule.refresh_steps < 1) refuse("pruning.refresh_steps", "must be at least 1");
  if (rule.min_cosine && rule.threshold == PruningRule::Threshold::quantile)
    refuse("pruning.min_cosine", "needs pruning.threshold lognormal");
  if (!recipe.errors.type.is_code()) refuse("pruning", "needs arithmetic floating");
}

void check_error_copy(const Recipe& recipe, const TensorFormat& copy) {
  check_tensor(recipe, "errors_for_weights", copy, true);
  if (!copy.type.is_code()) return;
  // A layer has one scale register and one pruner for its errors.
  if (recipe.errors.scale != TensorFormat::Scale::fixed || copy.scale != TensorFormat::Scale::fixed)
    refuse("errors_for_weights", "needs scale: fixed, for itself and for errors");
  if (recipe.pruning) refuse("errors_for_weights", "does not go with pruning");
}

void check_compression(const CompressionRule& rule) {
  check_share("compression.sparsity", rule.sparsity);
  check_share("compression.momentum", rule.momentum);
  if (!(rule.sample > 0 && rule.sample <= 1)) refuse("compression.sample", "must be above 0 and at most 1");
  double before = 0;
  for (const double sparsity : rule.warm_up) {
    check_share("compression.warm_up", sparsity);
    if (sparsity < before) refuse("compression.warm_up", "must not fall");
    before = sparsity;
  }
}

void check_norm(const NormRule& rule) {
  if (rule.range.channel.chunks < 1) refuse("norm.chunks", "must be at least 1");
  if (rule.parts < 1) refuse("norm.parts", "must be at least 1");
  if (rule.range.gradient_rounding.stochastic())
    check_random_bits("norm.gradient_rounding", rule.range.gradient_rounding.random_bits);
  check_gemmlowp_rounding("norm.gradient_rounding", rule.range.gradient_rounding);
}

}  // namespace

std::string_view name_of(TensorClass tensor_class) {
  switch (tensor_class) {
    case TensorClass::weights:
      return "weights";
    case TensorClass::activations:
      return "activations";
    case TensorClass::errors:
      return "errors";
    case TensorClass::weight_gradients:
      return "weight_gradients";
  }
  throw std::invalid_argument("no such class of tensors");
}

NormRule NormRule::fitting(std::int64_t n) const {
  NormRule rule = *this;
  const std::int64_t most = std::max<std::int64_t>(1, n / 2);
  std::int64_t& chunks = rule.range.channel.chunks;
  chunks = std::clamp<std::int64_t>(chunks, 1, most);
  while (n % chunks != 0) --chunks;
  rule.parts = std::clamp<std::int64_t>(parts, 1, most);
  const auto fits = [&](std::int64_t count) {
    return n % count == 0 && (kind == Kind::standard || count % chunks == 0 || chunks % count == 0);
  };
  while (!fits(rule.parts)) --rule.parts;
  rule.range.channel.parts = rule.parts;
  return rule;
}

const TensorFormat& Recipe::of(TensorClass tensor_class) const {
  switch (tensor_class) {
    case TensorClass::weights:
      return weights;
    case TensorClass::activations:
      return activations;
    case TensorClass::errors:
      return errors;
    case TensorClass::weight_gradients:
      return weight_gradients;
  }
  throw std::invalid_argument("no such class of tensors");
}

void Recipe::check() const {
  if (name.empty()) refuse("name", "must not be empty");
  check_tensor(*this, "weights", weights, true);
  check_tensor(*this, "activations", activations, true);
  check_tensor(*this, "errors", errors, true);
  check_tensor(*this, "weight_gradients", weight_gradients, false);
  if (errors_for_weights) check_error_copy(*this, *errors_for_weights);
  check_pair("weights", activations.type, weights.type, "forward pass");
  check_pair("errors", errors.type, weights.type, "input gradient");
  check_pair(errors_for_weights ? "errors_for_weights" : "errors", errors_for_weights.value_or(errors).type,
             activations.type, "weight gradient");
  check_accumulator(*this);
  if (master_weights.format != formats::fp32 && master_weights.format != formats::fp16)
    refuse("master_weights.format", master_weights.format.name() + "; it must be fp32 or fp16");
  check_rounding("master_weights", master_weights.rounding);
  check_loss_scale(loss_scale);
  check_norm(norm);
  if (pruning) check_pruning(*this, *pruning);
  if (clip_norm && !(*clip_norm > 0 && *clip_norm <= largest_clip_norm))
    refuse("clip_norm", "must be above 0 and at most 1e9");
  if (compression) check_compression(*compression);
  if (sampling) {
    if (sampling->levels < 1 || sampling->levels > 255) refuse("sampling.levels", "must be 1..255");
    check_random_bits("sampling.random_bits", sampling->random_bits);
    // The samples are FP32 multiples of a step, which no 8-bit format holds (ARITHMETIC.md 10).
    if (!weights.type.is_fp32()) refuse("sampling", "needs arithmetic fp32");
  }
}

}  // namespace mantissa

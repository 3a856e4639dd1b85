#include "sim/replay/operand.hpp"

#include <algorithm>

#include "models/kernels/prune.hpp"
#include "models/kernels/quantize.hpp"

namespace mantissa::replay {
namespace {

double zero_share(std::span<const float> values) {
  if (values.empty()) return 0;
  const auto zeros = std::count(values.begin(), values.end(), 0.0F);
  return static_cast<double>(zeros) / static_cast<double>(values.size());
}

void quantize_floating(Operand& operand, std::span<const float> values, const OperandRule& rule,
                       int threads) {
  const TensorFormat& how = rule.how;
  operand.format = how.format;
  operand.scale = scale_exponent(how, rule.loss_exponent, values);
  operand.codes.resize(values.size());
  const Conversion conversion{.to = how.format,
                              .rounding = how.rounding,
                              .overflow = how.overflow,
                              .via_fp16 = how.via_fp16,
                              .scale = operand.scale};
  ConversionCounts counts;
  kernels::quantize<std::uint8_t>(values, conversion, rule.draws, operand.codes, threads, &counts);
  std::vector<float> back(values.size());
  kernels::dequantize(operand.codes, conversion, back, threads);
  TensorReport& report = operand.report;
  report.scale = operand.scale;
  report.zero_share = zero_share(back);
  report.accuracy = measure_accuracy<float>(back, operand.values, Grid{how.format, operand.scale}, threads);
  add_counts(report.accuracy, counts);
}

void quantize_gemmlowp(Operand& operand, std::span<const float> values, const OperandRule& rule,
                       int threads) {
  operand.range = GemmlowpRange::of(values, rule.how.bits);
  if (rule.how.exact_zero) operand.range = operand.range.with_zero();
  operand.integers.resize(values.size());
  gemmlowp_quantize(values, operand.range, rule.how.rounding, rule.draws, operand.integers);
  std::vector<float> back(values.size());
  gemmlowp_dequantize(operand.integers, operand.range, back);
  TensorReport& report = operand.report;
  report.zero_share = zero_share(back);
  report.accuracy = measure_accuracy<float>(back, operand.values, std::nullopt, threads);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && back[i] == 0) ++report.accuracy.flushed_to_zero;
  }
}

}  // namespace

int Operand::bits() const {
  if (arithmetic == Arithmetic::floating) return format.bits();
  return arithmetic == Arithmetic::gemmlowp ? range.bits : 32;
}

std::uint16_t Operand::integer_zero() const { return gemmlowp_quantize(0.0F, range, Rounding::rne()).q; }

IntMatrix Operand::matrix(std::span<const std::uint16_t> q) const {
  return {.q = q, .bits = range.bits, .scale = range.scale, .min = range.min};
}

std::string Operand::format_name() const {
  if (arithmetic == Arithmetic::floating) return format.name();
  return arithmetic == Arithmetic::gemmlowp ? "u" + std::to_string(range.bits) : "fp32";
}

Operand prepare_operand(std::vector<float> values, const OperandRule& rule, int threads) {
  Operand operand;
  operand.arithmetic = rule.arithmetic;
  operand.values = std::move(values);
  operand.report.zero_share_in = zero_share(operand.values);

  std::span<const float> source = operand.values;
  std::vector<float> pruned;
  if (rule.pruner) {
    pruned.resize(source.size());
    kernels::prune(source, *rule.pruner, rule.prune_draws, pruned, {}, threads);
    source = pruned;
    operand.pruned = source.size();
    operand.draws += source.size();
  }
  if (rule.arithmetic != Arithmetic::fp32 && rule.how.rounding.stochastic()) operand.draws += source.size();
  if (rule.arithmetic == Arithmetic::floating) {
    quantize_floating(operand, source, rule, threads);
  } else if (rule.arithmetic == Arithmetic::gemmlowp) {
    quantize_gemmlowp(operand, source, rule, threads);
  } else {
    operand.report.zero_share = operand.report.zero_share_in;
    operand.report.accuracy = measure_accuracy<float>(source, operand.values, Grid{}, threads);
  }
  operand.report.format = operand.format_name();
  return operand;
}

}  // namespace mantissa::replay

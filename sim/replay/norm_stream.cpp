#include "sim/replay/norm_stream.hpp"

#include "models/kernels/quantize.hpp"

namespace mantissa::replay {
namespace {

bool eight_bit_mode(const NormRule& rule) {
  return rule.kind == NormRule::Kind::range && rule.range.precision == NormPrecision::int8;
}

std::vector<float> quantized_values(const Operand& operand) {
  if (operand.arithmetic == Arithmetic::fp32) return operand.values;
  std::vector<float> values(operand.values.size());
  if (operand.arithmetic == Arithmetic::floating) {
    kernels::dequantize(operand.codes, {.to = operand.format, .scale = operand.scale}, values);
  } else {
    gemmlowp_dequantize(operand.integers, operand.range, values);
  }
  return values;
}

}  // namespace

std::vector<float> norm_values(const Operand& operand, const NormRule& rule) {
  const bool unquantized = eight_bit_mode(rule) && operand.arithmetic == Arithmetic::gemmlowp;
  return unquantized ? operand.values : quantized_values(operand);
}

int norm_bits(const Operand& operand, const NormRule& rule) {
  return eight_bit_mode(rule) ? 8 : operand.bits();
}

NormStream::NormStream(const Operand& operand, const NormRule& rule, Rounding rounding,
                       const DrawSource& draws)
    : operand_(operand), eight_bit_mode_(eight_bit_mode(rule)) {
  if (!eight_bit_mode_) return;
  const std::vector<float> values = norm_values(operand, rule);
  range_ = GemmlowpRange::of(values, 8);
  integers_.resize(values.size());
  gemmlowp_quantize(values, range_, rounding, draws, integers_);
}

StoredTensor NormStream::stored() const {
  if (eight_bit_mode_) return StoredTensor::integers(integers_, range_);
  switch (operand_.arithmetic) {
    case Arithmetic::floating:
      return StoredTensor::codes(operand_.codes, operand_.format, operand_.scale);
    case Arithmetic::gemmlowp:
      return StoredTensor::integers(operand_.integers, operand_.range);
    default:
      return StoredTensor::fp32(operand_.values);
  }
}

}  // namespace mantissa::replay

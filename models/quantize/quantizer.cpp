#include "models/quantize/quantizer.hpp"

#include <stdexcept>
#include <string>

#include "models/quantize/rounding_draws.hpp"

namespace mantissa {

void check_quantizer(const Conversion& how, int code_bits, std::size_t values, std::size_t codes) {
  if (how.from != formats::fp32) {
    throw std::invalid_argument("the quantizer takes fp32, not " + how.from.name());
  }
  if (how.to.bits() > code_bits) {
    throw std::invalid_argument("a code of " + how.to.name() + " does not fit " + std::to_string(code_bits) +
                                " bits");
  }
  if (how.scale < min_quantizer_scale || how.scale > max_quantizer_scale) {
    throw std::invalid_argument("quantizer scale 2^" + std::to_string(how.scale) +
                                " is out of range; the exponent must be -128..127");
  }
  if (values != codes) {
    throw std::invalid_argument(std::to_string(values) + " values do not fit " + std::to_string(codes) +
                                " codes");
  }
}

template <class Code>
ConversionCounts quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                          std::span<Code> codes) {
  check_quantizer(how, 8 * sizeof(Code), values.size(), codes.size());
  RoundingDraws element_draws(how.rounding, draws);
  ConversionCounts counts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = fp32_bits(values[i]);
    const Rounded result = convert(bits, how, element_draws.next());
    count(counts, bits, result, how);
    codes[i] = static_cast<Code>(result.code);
  }
  return counts;
}

template <class Code>
ConversionCounts dequantize(std::span<const Code> codes, const Conversion& how, std::span<float> values) {
  check_quantizer(how, 8 * sizeof(Code), values.size(), codes.size());
  const Conversion back{.from = how.to, .to = formats::fp32, .scale = -how.scale};
  ConversionCounts counts;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const Rounded result = convert(codes[i], back);
    count(counts, codes[i], result, back);
    values[i] = fp32_value(result.code);
  }
  return counts;
}

template ConversionCounts quantize(std::span<const float>, const Conversion&, const DrawSource&,
                                   std::span<std::uint8_t>);
template ConversionCounts quantize(std::span<const float>, const Conversion&, const DrawSource&,
                                   std::span<std::uint16_t>);
template ConversionCounts quantize(std::span<const float>, const Conversion&, const DrawSource&,
                                   std::span<std::uint32_t>);
template ConversionCounts dequantize(std::span<const std::uint8_t>, const Conversion&, std::span<float>);
template ConversionCounts dequantize(std::span<const std::uint16_t>, const Conversion&, std::span<float>);
template ConversionCounts dequantize(std::span<const std::uint32_t>, const Conversion&, std::span<float>);

}  // namespace mantissa

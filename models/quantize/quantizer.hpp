// The float tensor quantizer: x * 2^scale, exact, then one rounding to a narrow format (ARITHMETIC.md 5).
#pragma once

#include <cstdint>
#include <span>

#include "models/format/convert.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

// Scale is a signed 8-bit exponent.
constexpr int min_quantizer_scale = -128;
constexpr int max_quantizer_scale = 127;

// Throws std::invalid_argument unless `how` converts from FP32 to a format that fits `code_bits`, its scale
// is in range, and there are as many codes as values.
void check_quantizer(const Conversion& how, int code_bits, std::size_t values, std::size_t codes);

// Element i takes draw i / lanes of lane i mod lanes; roundings that are not stochastic draw nothing.
// Code is std::uint8_t, std::uint16_t or std::uint32_t.
template <class Code>
ConversionCounts quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                          std::span<Code> codes);

// The way back: code * 2^-scale as FP32, rounded to nearest where FP32's range ends. `how` is the
// quantizer's.
template <class Code>
ConversionCounts dequantize(std::span<const Code> codes, const Conversion& how, std::span<float> values);

}  // namespace mantissa

// The fast tensor quantizer: the codes of mantissa::quantize() and mantissa::dequantize(), vectorised and
// threaded.
#pragma once

#include <cstdint>
#include <span>

#include "models/quantize/quantizer.hpp"

namespace mantissa::kernels {

// Same contract as mantissa::quantize(); Code is std::uint8_t or std::uint16_t. What was met is counted only
// where `counts` asks for it.
template <class Code>
void quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
              std::span<Code> codes, int threads = 1, ConversionCounts* counts = nullptr);

// Same contract as mantissa::dequantize() for codes of up to 8 bits, without counts.
void dequantize(std::span<const std::uint8_t> codes, const Conversion& how, std::span<float> values,
                int threads = 1);

}  // namespace mantissa::kernels

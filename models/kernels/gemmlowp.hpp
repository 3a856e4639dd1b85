// The fast GEMMLOWP quantizer: the bits of models/quantize/gemmlowp.hpp, vectorised and threaded.
#pragma once

#include <cstdint>
#include <span>

#include "models/quantize/gemmlowp.hpp"

namespace mantissa::kernels {

// GemmlowpRange::of().
GemmlowpRange gemmlowp_range(std::span<const float> values, int bits, int threads = 1);

// Same contracts as mantissa::gemmlowp_quantize() and mantissa::gemmlowp_dequantize() of a tensor.
std::uint64_t gemmlowp_quantize(std::span<const float> values, const GemmlowpRange& range, Rounding rounding,
                                const DrawSource& draws, std::span<std::uint16_t> codes, int threads = 1);
void gemmlowp_dequantize(std::span<const std::uint16_t> codes, const GemmlowpRange& range,
                         std::span<float> values, int threads = 1);

// Both at once, without the codes between them: each value as the integers can hold it. `rounded` may be
// `values` itself. Returns how many elements were invalid.
std::uint64_t gemmlowp_round_values(std::span<const float> values, const GemmlowpRange& range,
                                    Rounding rounding, const DrawSource& draws, std::span<float> rounded,
                                    int threads = 1);

}  // namespace mantissa::kernels

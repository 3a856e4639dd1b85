// The fast stochastic pruner on FP32 tensors, and non-zero masks of code tensors.
#pragma once

#include <cstdint>
#include <span>

#include "models/sparsity/pruner.hpp"

namespace mantissa::kernels {

// Same contract as mantissa::prune_tensor<float>(). `out` may be `g` itself.
PruneCounts prune(std::span<const float> g, const Pruner& pruner, const DrawSource& draws,
                  std::span<float> out, std::span<std::uint8_t> nonzero = {}, int threads = 1);

// Bit i mod 8 of nonzero[i / 8] tells whether code i is not a zero (of either sign; NaN is not zero). Returns
// how many. Codes are of a format of up to 8 bits; nonzero has ceil(size / 8) bytes, padded with zero bits.
std::uint64_t nonzero_mask(std::span<const std::uint8_t> codes, const Format& format,
                           std::span<std::uint8_t> nonzero);

// Set bits in positions [begin, end) of a mask. Throws std::invalid_argument for positions outside it.
std::uint64_t count_nonzero(std::span<const std::uint8_t> nonzero, std::uint64_t begin, std::uint64_t end);

}  // namespace mantissa::kernels

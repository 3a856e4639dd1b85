// GEMM with any accumulator that rounds sums to a format: plain, chunk, fused, kulisch; every rounding.
// Vectors run over output columns, each lane does what the scalar model does, in the same order.
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/gemm.hpp"

namespace mantissa::kernels {

// False where no vector form exists (formats without Inf, more than 51 significant and random bits, a chunk
// whose inner accumulator differs from the outer): use the scalar model. Aligned accumulators have a kernel
// of their own.
bool gemm_rounded_supports(const GemmOperands& operands, const Accumulator& how);

void gemm_rounded(const GemmOperands& operands, const GemmOptions& options, std::span<float> c, int threads);

}  // namespace mantissa::kernels

// GEMM with the aligned, truncating accumulator: what tensor cores do with groups of products.
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/gemm.hpp"

namespace mantissa::kernels {

// False where no vector form exists (aligned sums of more than 53 bits, formats without Inf or of an unusual
// range): use the scalar model.
bool gemm_aligned_supports(const GemmOperands& operands, const Accumulator& how);

void gemm_aligned(const GemmOperands& operands, const GemmOptions& options, std::span<float> c, int threads);

}  // namespace mantissa::kernels

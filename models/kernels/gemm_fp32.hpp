// GEMM with the FP32 rne accumulator: FP8 products are exact in FP32, so one FMA per MAC in k order is the
// hardware's own rounding.
#pragma once

#include <span>

#include "models/mac/gemm.hpp"

namespace mantissa::kernels {

// Plain accumulator, FP32, rne. Operand formats must be exact in FP32; skipping is the caller's task.
void gemm_fp32(const GemmOperands& operands, std::span<float> c, int threads);

}  // namespace mantissa::kernels

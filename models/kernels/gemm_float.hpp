// GEMMs on FP32 operands: in FP64 as the reference that results are measured against, in FP32 as the baseline
// without quantization, and on integers, whose sums FP64 holds exactly.
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/int_gemm.hpp"

namespace mantissa::kernels {

// C[m,n] = A[m,k] B[k,n], row-major.
struct FloatOperands {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const float> a;
  std::span<const float> b;
};

// Sums in FP64 and in k order from +0, one rounding per step: a product of two FP32 numbers is exact in FP64.
// Throws std::invalid_argument for sizes that do not fit. The bits do not depend on threads or SIMD target.
void gemm_fp64(const FloatOperands& operands, std::span<double> c, int threads = 1);

// acc' = fp32_rne(acc + a*b) in k order from +0, fused; canonical NaN, zeros positive.
void gemm_float(const FloatOperands& operands, std::span<float> c, int threads = 1);

// Same contract as mantissa::int_gemm().
void int_gemm(const IntGemmOperands& operands, std::span<float> c, int threads = 1);

}  // namespace mantissa::kernels

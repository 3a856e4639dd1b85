// Products of encoded tensors: which kernel multiplies which pair of forms. Sums are FP32, in the scale of
// the operands: numbers times 2^(scale of the one + scale of the other).
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/gemm.hpp"
#include "models/mac/lowering.hpp"
#include "models/tensor/encoded_tensor.hpp"

namespace mantissa {

// C[m,n] = A[m,k] B[k,n] of lowered matrices, row-major: gemm() of codes in the accumulator of `options`,
// int_gemm() of integers, gemm_float() of FP32. Throws std::invalid_argument for a pair that no unit
// multiplies and what the kernels refuse.
GemmCounts gemm(const PassSides& sides, const EncodedTensor& a, const EncodedTensor& b,
                const GemmOptions& options, std::span<float> sums, int threads = 1);

// A pass of a convolution on whole tensors: the same bits, laid out as the tensor that the pass makes. Where
// the sums are FP32, rounded to nearest, nothing is lowered.
void conv(const ConvShape& shape, Pass pass, const EncodedTensor& first, const EncodedTensor& second,
          const GemmOptions& options, std::span<float> sums, int threads = 1);

}  // namespace mantissa

// The three passes of a convolution on GEMMLOWP integers: exact integer sums, then the FP32 operations of
// ARITHMETIC.md 5. Each gives the bits of int_gemm on the lowered matrices of ARITHMETIC.md 4, which are
// never made.
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/conv_shape.hpp"
#include "models/mac/int_gemm.hpp"

namespace mantissa::kernels {

// A tensor in the layout of ConvShape, and the integer that stands for zero in it: what padding and the holes
// of strided layers are.
struct IntTensor {
  IntMatrix values;
  std::uint16_t zero = 0;
};

// As the functions of conv.hpp, with the first operand as A and the second as B, at most one of 16 bits. The
// zero of w, and of the weight gradient's g, is never used. Throw std::invalid_argument for a shape that
// check_conv_shape refuses, spans that do not fit it, what check_int_gemm refuses, and a k beyond 2^24, below
// which no sum leaves int_mac's accumulator.
void int_conv_forward(const ConvShape& shape, const IntTensor& x, const IntTensor& w, std::span<float> y,
                      int threads = 1);
void int_conv_input_gradient(const ConvShape& shape, const IntTensor& g, const IntTensor& w,
                             std::span<float> dx, int threads = 1);
void int_conv_weight_gradient(const ConvShape& shape, const IntTensor& g, const IntTensor& x,
                              std::span<float> dw, int threads = 1);

}  // namespace mantissa::kernels

// The three passes of a convolution on FP32 tensors in the layout that networks have, [batch, channel, row,
// column]: each gives the bits of gemm_float on the lowered matrices of ARITHMETIC.md 4, which are never
// made.
#pragma once

#include <span>

#include "models/mac/conv_shape.hpp"

namespace mantissa::kernels {

// Every output is acc' = fp32_rne(acc + a*b) in the k order of its pass from +0, fused, padding and holes
// being +0; canonical NaN, zeros positive. The bits do not depend on threads or SIMD target. Throws
// std::invalid_argument for a shape that check_conv_shape refuses and spans that do not fit it.

// y = x * w, without bias; k = (input channel, kernel row, kernel column).
void conv_forward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                  std::span<float> y, int threads = 1);

// dx from the gradient g of y; k = (output channel, kernel row, kernel column).
void conv_input_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> w,
                         std::span<float> dx, int threads = 1);

// dw from the gradient g of y; k = (batch, output row, output column).
void conv_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                          std::span<float> dw, int threads = 1);

}  // namespace mantissa::kernels

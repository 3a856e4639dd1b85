// The nodes without weights: ReLU, addition, pooling. They choose and add in FP32; the units around them
// quantize.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/train/network.hpp"
#include "sim/train/tensor.hpp"

namespace mantissa::train {

// y = x where x > 0, else +0 (NaN stays NaN).
void relu_forward(const Tensor& x, Tensor& y, int threads);
// Turns the gradient of y into that of x, in place.
void relu_backward(const Tensor& y, Tensor& gradient, int threads);

// z = x + y, one FP32 rounding.
void add(const Tensor& x, const Tensor& y, Tensor& z, int threads);

// The largest of each window; `choice` remembers where in the input it stood, the first among equals.
void max_pool_forward(const Node& node, std::int64_t batch, const Tensor& x, Tensor& y,
                      std::vector<std::int32_t>& choice, int threads);
void max_pool_backward(const Node& node, std::int64_t batch, const Tensor& g,
                       const std::vector<std::int32_t>& choice, Tensor& dx, int threads);

// Mean over the image: FP32 sum from +0 in order, times fp32(1/n).
void average_pool_forward(const Node& node, std::int64_t batch, const Tensor& x, Tensor& y, int threads);
void average_pool_backward(const Node& node, std::int64_t batch, const Tensor& g, Tensor& dx, int threads);

}  // namespace mantissa::train

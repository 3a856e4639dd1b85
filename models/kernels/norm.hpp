// The fast batch norms over NCHW tensors: per channel the bits of models/norm, vectorised and threaded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/norm/batch_norm.hpp"
#include "models/norm/norm_shape.hpp"
#include "models/norm/range_bn_tensor.hpp"

namespace mantissa::kernels {

// Every channel is batch_norm_forward(), batch_norm_backward() and normalise() of its stream. gamma, beta,
// the results and `saved` have one element per channel. Throw std::invalid_argument for lengths that
// contradict the shape, for channels of fewer than 2 elements, and for parts into which they cannot be cut.
// y may be x, and dx may be g or x.
std::vector<BatchNormSaved> batch_norm_forward(std::span<const float> x, const NormShape& shape,
                                               std::span<const float> gamma, std::span<const float> beta,
                                               std::span<float> y, int threads = 1, std::int64_t parts = 1);

std::vector<NormGradients> batch_norm_backward(std::span<const float> x, std::span<const float> g,
                                               const NormShape& shape, std::span<const float> gamma,
                                               std::span<const BatchNormSaved> saved, std::span<float> dx,
                                               int threads = 1, std::int64_t parts = 1);

// With statistics that are given, such as running ones: only mean and inv are read.
void batch_norm_inference(std::span<const float> x, const NormShape& shape, std::span<const float> gamma,
                          std::span<const float> beta, std::span<const BatchNormSaved> statistics,
                          std::span<float> y, int threads = 1);

// Same contract as mantissa::range_bn_tensor_forward() and mantissa::range_bn_tensor_backward(); what one of
// the two pairs saved, the other can use.
RangeBnTensorSaved range_bn_tensor_forward(std::span<const float> x, const NormShape& shape,
                                           std::span<const float> gamma, std::span<const float> beta,
                                           const RangeBnTensorConfig& config, std::span<float> y,
                                           int threads = 1);

RangeBnTensorGradients range_bn_tensor_backward(const RangeBnTensorSaved& saved, std::span<const float> g,
                                                const DrawSource& draws, std::span<float> dx,
                                                int threads = 1);

}  // namespace mantissa::kernels

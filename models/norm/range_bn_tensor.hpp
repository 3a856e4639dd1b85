// range_bn over a whole tensor of channels, in FP32 or with every operand in 8 bits (ARITHMETIC.md 8 and 5).
//
// What the 8-bit mode quantizes, each with the GEMMLOWP quantizer and dequantized at once, so that the
// arithmetic stays that of the FP32 mode on values that 8 bits can hold:
//   forward   1. x (rne), between the minimum and the maximum of the tensor;
//             2. first pass over the dequantized x: mean, inv, argmax and argmin of every channel;
//             3. inv, gamma and beta (rne), each between its minimum and maximum over the channels;
//             4. second pass: xhat from the dequantized x and inv, y from the dequantized gamma and beta.
//             Quantizing makes ties, so a range may end at an earlier element than in the FP32 mode.
//   backward  1. g (stochastic), between the minimum and the maximum of the tensor;
//             2. both passes with that g and the dequantized x, gamma and inv that the forward pass used.
// The mean, the sums and the results y, dx, dgamma and dbeta are FP32: quantizing y or dx is their reader's.
// Minima and maxima are over finite elements. An Inf is clamped to them; a NaN becomes the minimum and is
// counted as invalid, so unlike in the FP32 mode it does not spread. Only where the maximum less the minimum
// exceeds FP32 is every element NaN.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/format/rounding.hpp"
#include "models/norm/norm_shape.hpp"
#include "models/norm/range_bn.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

enum class NormPrecision : std::uint8_t { fp32, int8 };

struct RangeBnTensorConfig {
  RangeBnConfig channel;
  NormPrecision precision = NormPrecision::fp32;
  Rounding gradient_rounding = Rounding::sr(16);  // of g; int8 only
};

// All that the backward pass needs of the forward pass: the operands as they were used. And, for who runs
// some of the channels only, what the forward pass used besides.
struct RangeBnTensorSaved {
  NormShape shape;
  RangeBnTensorConfig config;
  std::vector<float> x;
  std::vector<float> gamma;
  std::vector<float> beta;
  std::vector<RangeBnSaved> channels;      // inv as it was used
  std::optional<GemmlowpRange> inv_range;  // int8: over the channels, before it was quantized
  std::uint64_t invalid = 0;               // NaN met by the quantizers of x, inv, gamma and beta
};

struct RangeBnTensorGradients {
  std::vector<float> gamma;
  std::vector<float> beta;
  std::vector<RangeBnCorrection> corrections;
  std::uint64_t invalid = 0;  // NaN met by the quantizer of g
};

// gamma and beta have one element per channel. Throws std::invalid_argument for lengths that contradict the
// shape and for channels that Range BN cannot cut.
RangeBnTensorSaved range_bn_tensor_forward(std::span<const float> x, const NormShape& shape,
                                           std::span<const float> gamma, std::span<const float> beta,
                                           const RangeBnTensorConfig& config, std::span<float> y);

// g = dL/dy. Writes dL/dx and returns dL/dgamma, dL/dbeta. Element i of g, in tensor order, takes draw i /
// lanes of lane i mod lanes; the stream is unit gemmlowp_quantizer of pass input_gradient. FP32 draws
// nothing.
RangeBnTensorGradients range_bn_tensor_backward(const RangeBnTensorSaved& saved, std::span<const float> g,
                                                const DrawSource& draws, std::span<float> dx);

}  // namespace mantissa

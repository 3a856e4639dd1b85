// range_bn: batch normalisation by the range of a channel instead of its variance (ARITHMETIC.md 8; Banner
// et al. 2018). No square, no square root; backward corrects only the elements that made the range.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/norm/channel.hpp"

namespace mantissa {

// C(n), which turns the range of n Gaussian samples into about 1.7 standard deviations.
enum class RangeConstant : std::uint8_t {
  paper,      // 1/sqrt(2 ln n)
  reference,  // 0.540208/sqrt(2 ln n): near unit variance, as the authors' program has it
};
// "paper" or "reference". Throws std::invalid_argument with what exists.
RangeConstant parse_range_constant(std::string_view text);

// Correctly rounded to FP32. Throws std::invalid_argument for n below 2.
float range_constant(std::int64_t n, RangeConstant kind);

struct RangeBnConfig {
  RangeConstant constant = RangeConstant::paper;
  // The range is the mean of the chunks' maxima less the mean of their minima: one outlier weighs 1/chunks.
  std::int64_t chunks = 1;
  // Of the sums over a channel; they divide the chunks or the chunks divide them.
  std::int64_t parts = 1;
};

// What the controller writes into the unit before a channel of n elements.
struct RangeBnRegisters {
  std::int64_t chunk_length = 0;
  std::int64_t parts = 1;
  float reciprocal_n = 0.0F;
  float reciprocal_chunks = 0.0F;
  float constant = 0.0F;
  float epsilon = norm_epsilon;

  RangeBnRegisters() = default;
  // Throws std::invalid_argument unless chunks divides n into chunks of at least 2 elements, and parts into
  // parts that hold whole chunks or that chunks are made of.
  RangeBnRegisters(std::int64_t n, const RangeBnConfig& config);
};

// What the backward pass needs of the forward pass besides x. A chunk's registers start at its first element
// and move on an IEEE compare, which is false for a NaN.
struct RangeBnSaved {
  float mean = 0.0F;
  float inv = 0.0F;
  std::vector<std::int64_t> argmax;  // one per chunk, an index into the channel; the first among equals
  std::vector<std::int64_t> argmin;
};

// What the first pass collects of a channel, element by element: of a part of it, and the extremes of a
// chunk, which may be longer.
struct RangeBnSums {
  float x = 0.0F;
  float maxima = 0.0F;  // over the chunks that are complete
  float minima = 0.0F;
  bool has_nan = false;
  // Of the chunk so far.
  float high = 0.0F;
  float low = 0.0F;
  std::int64_t argmax = 0;
  std::int64_t argmin = 0;

  // The next element of the channel: the first one of a chunk, the last one, or neither.
  void add(float x_i, std::int64_t index, bool begins_chunk, bool ends_chunk);
  // A part has ended: its sums go to those of the parts before it, and the next part begins.
  void end_part(RangeBnSums& total);
};

// The first pass over a channel in stream order; the second is normalise(). A NaN anywhere in x makes inv
// NaN.
RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnConfig& config);
// With the registers as they are; chunk_length and parts must divide the channel.
RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnRegisters& registers);

// 1 / (range*C + epsilon) from the sums of the chunks' maxima and minima; NaN if the channel has one.
float range_bn_inv(float maxima, float minima, bool has_nan, const RangeBnRegisters& registers);

// Both passes over one channel in stream order. A NaN anywhere in x makes every y NaN.
RangeBnSaved range_bn_forward(std::span<const float> x, float gamma, float beta, const RangeBnConfig& config,
                              std::span<float> y);

// What the first backward pass leaves for the second.
struct RangeBnCorrection {
  float mean_h = 0.0F;
  float t = 0.0F;  // added at a chunk's argmax, subtracted at its argmin
};
RangeBnCorrection range_bn_correction(const GradientSums& sums, float inv, const RangeBnRegisters& registers);

// One element of the second backward pass, before t.
float range_bn_input_gradient(float g, float gamma, float inv, const RangeBnCorrection& correction);

// Throws std::invalid_argument unless there is one argmax and one argmin inside the channel of n elements for
// each chunk.
void check_range_bn_saved(const RangeBnSaved& saved, std::int64_t n, std::int64_t chunks);

struct RangeBnGradients : NormGradients {
  RangeBnCorrection correction;
};

// g = dL/dy. Writes dL/dx and returns dL/dgamma, dL/dbeta, and what the passes shared.
RangeBnGradients range_bn_backward(std::span<const float> x, std::span<const float> g, float gamma,
                                   const RangeBnSaved& saved, const RangeBnConfig& config,
                                   std::span<float> dx);

}  // namespace mantissa

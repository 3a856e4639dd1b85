// Statistics of a batch norm that a drain takes on its way (ARITHMETIC.md 8, "Fused"): what goes in, what
// comes out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/tensor/encoded_tensor.hpp"
#include "sim/arch/block_job.hpp"

namespace mantissa {

// Columns of the pass are the norm's channels, rows their elements in stream order.
struct DrainStatisticsJob {
  DrainStatistics kind = DrainStatistics::none;
  std::int64_t chunks = 1;  // forward
  std::int64_t parts = 1;   // of the sums
  int scale = 0;            // a drained code stands for its value * 2^-scale
  // Backward: the norm's x, [batch, channels, pixels] as the results of the pass, and one number per channel.
  EncodedTensor x = {};
  std::span<const float> gamma = {};
  std::span<const float> mean = {};
  std::span<const float> inv = {};
};

// What the units behind a drain have room for, at least; none: there are no units.
struct DrainRoom {
  std::int64_t channels = 0;
  std::int64_t elements = 0;  // of a channel
  bool parts = false;         // some are summed in parts
};

// Of a channel, as norm_statistics gives it.
struct ChannelStatistics {
  std::array<float, 4> sums = {};  // x, maxima, minima, +0; or g, h, g*xhat, h*xhat
  bool has_nan = false;
  std::vector<std::int64_t> argmax = {};  // one per chunk
  std::vector<std::int64_t> argmin = {};
};

}  // namespace mantissa

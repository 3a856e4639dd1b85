// Channels for the two Range BN units: corners first, then random ones of every kind of magnitude.
#pragma once

#include <cstdint>
#include <vector>

#include "models/norm/range_bn.hpp"
#include "sim/dut/bits.hpp"
#include "sim/stimulus/values.hpp"

namespace mantissa::verify {

struct RangeBnChannel {
  std::vector<float> x;
  std::vector<float> g;
  float gamma = 1.0F;
  float beta = 0.0F;
  RangeBnConfig config;
};

// Channel number `index` of a run, of at most `longest` elements.
RangeBnChannel range_bn_channel(std::uint64_t index, std::size_t longest, stimulus::Dice& dice);

// Any code of FP32, every second time a corner.
float any_fp32(stimulus::Dice& dice);

// A float on a 32-bit port.
Bits fp32_port(float value);

bool has_nan(const std::vector<float>& values);

}  // namespace mantissa::verify

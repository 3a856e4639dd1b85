// One pass of a layer as the second machine runs it, and how it is cut (ARITHMETIC.md 7, "Blocks").
#pragma once

#include <cstdint>

#include "models/mac/conv_shape.hpp"
#include "models/mac/lowering.hpp"
#include "models/mac/pass.hpp"
#include "sim/arch/architecture.hpp"

namespace mantissa {

// Those of a batch norm that a drain takes. Of the backward pass they need the norm's x.
enum class DrainStatistics : std::uint8_t { none, forward, backward };

struct BlockJob {
  ConvShape shape;
  Pass pass = Pass::forward;
  Rectangle outputs;  // rows by global columns
  int a_bits = 8;
  int b_bits = 8;
  int c_bits = 8;
  int sum_bits = 32;
  bool skip = false;
  bool fp32 = false;    // operands are FP32: no array, no skipping
  bool packed = false;  // A is g, and lies in packed lines
  DrainStatistics statistics = DrainStatistics::none;
  int x_bits = 8;  // of the norm's x, for statistics of the backward pass
};

}  // namespace mantissa

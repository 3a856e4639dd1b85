// One pass of a layer as the second machine runs it, and how it is cut (ARITHMETIC.md 7, "Blocks").
#pragma once

#include <cstdint>

#include "models/mac/conv_shape.hpp"
#include "models/mac/lowering.hpp"
#include "models/mac/pass.hpp"
#include "sim/arch/architecture.hpp"

namespace mantissa {

struct BlockJob {
  ConvShape shape;
  Pass pass = Pass::forward;
  Rectangle outputs;  // rows by global columns
  int a_bits = 8;
  int b_bits = 8;
  int c_bits = 8;
  int sum_bits = 32;
  bool skip = false;
  bool fp32 = false;  // operands are FP32: no array, no skipping
};

}  // namespace mantissa

// One pass of a layer as the second machine runs it, and how it is cut (ARITHMETIC.md 7, "Blocks").
#pragma once

#include <cstdint>

#include "models/mac/conv_shape.hpp"
#include "models/mac/lowering.hpp"
#include "models/mac/pass.hpp"

namespace mantissa {

// Whose blocks follow one another: block rows or block columns are the outer loop.
enum class BlockOrder : std::uint8_t { m_outside, n_outside };

struct BlockMapping {
  BlockOrder order = BlockOrder::m_outside;
  std::int64_t m_block = 0;  // rows
  std::int64_t n_block = 0;  // global columns
  std::int64_t k_block = 0;  // channels; lines in the weight gradient
  friend bool operator==(const BlockMapping&, const BlockMapping&) = default;
};

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

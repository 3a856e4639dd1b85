// block_array: the output-stationary array with two sets of accumulators, run by run and exchange by exchange
// (ARITHMETIC.md 4, 7, "Blocks: the second machine").
#pragma once

#include <cstdint>

#include "models/array/two_sets.hpp"
#include "models/format/format.hpp"
#include "models/sparsity/skip_window.hpp"

namespace mantissa {

struct BlockArray {
  SkipWindow skip_window = {};
  int cols = 16;
  Format a = formats::e5m2;
  Format b = formats::e5m2;
  Format accumulator = formats::fp32;  // rounded to nearest at every step
  int sum_rows = 1;                    // rows of sums that are exchanged in a cycle

  // Throws std::invalid_argument for sizes below 1 and formats that do not go together.
  void check() const;
  int rows() const { return skip_window.rows; }
  int sum_bits() const { return accumulator.bits(); }
  // R of the text: cycles in which rows are exchanged.
  int exchange_cycles() const { return (rows() + sum_rows - 1) / sum_rows; }
};

using BlockRun = ArrayRunOf<std::uint8_t>;

// Sums are codes of the accumulator.
class BlockSums : public TwoSets<std::uint32_t> {
 public:
  // Throws what BlockArray::check throws.
  explicit BlockSums(const BlockArray& array);

  // Into the working set. The schedule is that of the run alone, from its own start. Throws
  // std::invalid_argument for what does not fit.
  SkipSchedule run(const BlockRun& run);
  // Of the last tile whose sums went into the shadow set; the RTL keeps one bit: suppressed != 0.
  std::uint64_t shadow_suppressed() const { return shadow_events(); }

 private:
  BlockArray array_;
};

}  // namespace mantissa

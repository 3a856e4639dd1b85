// block_array: the output-stationary array with two sets of accumulators, run by run and exchange by exchange
// (ARITHMETIC.md 4, 7, "Blocks: the second machine").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/tile_steps.hpp"
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
  // R of the text: cycles in which rows are exchanged.
  int exchange_cycles() const { return (rows() + sum_rows - 1) / sum_rows; }
};

// One run over the whole array. What rows not in use and columns not enabled hold does not count.
struct BlockRun {
  std::int64_t k = 0;
  std::span<const std::uint8_t> a = {};             // codes [rows, k], row-major
  std::span<const std::uint8_t> b = {};             // codes [k, cols]
  std::span<const std::uint8_t> used_rows = {};     // one byte per row, 0: not in use
  std::span<const std::uint8_t> enabled_cols = {};  // one per column, 0: holds its sums
  bool skip = true;                                 // in place of the array's
};

// The sums of both sets. They are codes of the accumulator, row-major over the whole array, +0 at first.
class BlockSums {
 public:
  // Throws what BlockArray::check throws.
  explicit BlockSums(const BlockArray& array);

  // Into the working set. The schedule is that of the run alone, from its own start. Throws
  // std::invalid_argument for what does not fit.
  SkipSchedule run(const BlockRun& run);
  // The tile is complete: the sets change roles.
  void swap();
  // New sums for a row of the shadow set; none: +0. Throws std::invalid_argument for what does not fit.
  void load(int row, std::span<const std::uint32_t> sums);

  std::span<const std::uint32_t> working() const { return sets_[working_].sums; }
  std::span<const std::uint32_t> shadow() const { return sets_[1 - working_].sums; }
  // Of the last tile whose sums went into the shadow set; the RTL keeps one bit: suppressed != 0.
  std::uint64_t shadow_suppressed() const { return sets_[1 - working_].suppressed; }

 private:
  struct Set {
    std::vector<std::uint32_t> sums;
    std::uint64_t suppressed = 0;
  };

  BlockArray array_;
  Set sets_[2];
  int working_ = 0;
};

}  // namespace mantissa

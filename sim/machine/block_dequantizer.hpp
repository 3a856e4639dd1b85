// What stands behind an array of integers in the second machine: an exact sum gets the products of holes, and
// with the sums of its row of A and its column of B becomes FP32; then the bias is added (ARITHMETIC.md 5, 7,
// "Phases").
#pragma once

#include <cstdint>
#include <vector>

#include "models/mac/int_gemm.hpp"
#include "sim/arch/block_plan.hpp"
#include "sim/machine/block_array_job.hpp"

namespace mantissa {

// Keeps references. Sums of A, and of B where that is x, are taken from the elements as they pass for the
// first time. Those of the weights' columns are registers that the host writes, for a row of holes needs them
// and loads no weights.
class BlockDequantizer {
 public:
  BlockDequantizer(const BlockArrayJob& job, const BlockPlan& plan);

  // Elements on their way to the array: those of the first columns of a group that the job has, those of its
  // first rows.
  bool wants_a(std::int64_t first_col) const;
  bool wants_b(std::int64_t first_row) const;
  void add_a(std::int64_t row, std::int64_t group, std::uint32_t q) { row_sum(row, group) += q; }
  void add_b(std::int64_t col, std::uint32_t q) { columns_[col].all += q; }

  // Row and column of the pass.
  float output(std::uint64_t sum, std::int64_t row, std::int64_t col) const;

 private:
  // Of a column of B: over all k, and over those of each phase.
  struct ColumnSums {
    std::uint64_t all = 0;
    std::vector<std::uint64_t> phases = {};
  };
  std::uint64_t& row_sum(std::int64_t row, std::int64_t group) { return rows_[row * plan_.groups() + group]; }
  void sum_weights();
  std::size_t phase_of(std::int64_t row) const;

  const BlockArrayJob& job_;
  const BlockPlan& plan_;
  IntMatrix a_;
  IntMatrix b_;
  std::uint64_t zero_;               // that holes hold
  std::vector<std::uint64_t> rows_;  // [rows, groups] of the pass, over what the array takes
  std::vector<ColumnSums> columns_;
};

}  // namespace mantissa

// What a job of the second machine consists of, listed before anything moves: blocks, steps, tiles, runs.
#pragma once

#include <map>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "testbench/arch/block_walk_pass.hpp"

namespace mantissa::test {

// Columns of one group, with the same rows: what the array does in one go.
struct PlannedRun {
  Count cols = 0;
  Count length = 0;
  std::vector<std::vector<bool>> nonzero;  // of A: rows in use by k
};

struct PlannedTile {
  Count sums = 0;  // rows in use by columns in use
  std::vector<PlannedRun> runs;
  bool first_segment = false;
  bool last_segment = false;
  bool alone = false;  // the only one of its step
  // No exchange after it: the next tile works on the same sums.
  bool sums_stay() const { return alone && !last_segment; }
};

struct PlannedStep {
  Count block = 0;
  bool opens = false;  // its block
  Lines a;             // P of the law
  Lines b;
  std::vector<PlannedTile> tiles;  // none in an empty step
};

struct PlannedBlock {
  Count row = 0;  // which block row, which block column
  Count col = 0;
  Count outputs = 0;
  Count sets = 0;  // of Rows by Cols outputs that drain
  Count first_step = 0;
  Count last_tiles = 0;  // of last segments: when their sums are in C, all are
};

struct BlockPlan {
  std::vector<PlannedBlock> blocks;
  std::vector<PlannedStep> steps;
  Count scheduled = 0;  // MACs
  Count row_of_a = 0;   // elements of a TensorRow
  Count row_of_b = 0;
  std::map<TensorRow, Count> nonzero_in_row;  // of g where it is packed
};

// Throws std::invalid_argument where the law refuses the mapping's sizes.
BlockPlan plan_blocks(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                      const std::vector<std::uint8_t>& first_nonzero);

}  // namespace mantissa::test

// The tiles of a pass in the order of the law, and their runs (ARITHMETIC.md 7, "Blocks, segments, steps").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/block_plan.hpp"

namespace mantissa {

// The columns of a tile that belong to one group.
struct TileRun {
  std::int64_t group = 0;
  std::int64_t col0 = 0, col1 = 0;  // global columns
};

struct BlockTile {
  std::int64_t step = 0;
  std::int64_t block = 0;
  std::size_t phase = 0;
  std::int64_t row0 = 0, rows = 0;  // as the phase counts them
  std::int64_t col0 = 0, cols = 0;  // global columns
  std::int64_t length = 0;          // of k
  bool goes_on = false;             // with sums that came from the buffer C
  bool exchanged = false;           // the sets change roles behind it
  bool ends_step = false;
  std::vector<TileRun> runs = {};
};

// The row of the pass that a tile has in its row `row`.
std::int64_t output_row(const BlockPlan& plan, const BlockTile& tile, std::int64_t row);

// Keeps references.
class BlockTiles {
 public:
  BlockTiles(const Architecture& arch, const BlockPlan& plan) : arch_(arch), plan_(plan) { lay(); }

  // Tiles of steps, one step after the other. An empty step has none.
  std::int64_t step() const { return step_; }
  bool done() const { return step_ == static_cast<std::int64_t>(plan_.steps().size()); }
  bool step_has_tile() const { return at_ < tiles_.size(); }
  const BlockTile& tile() const { return tiles_[at_]; }
  void next_tile() { ++at_; }
  // Behind the last tile of a step, or in an empty one.
  void next_step() {
    ++step_;
    lay();
  }

 private:
  void lay();
  std::vector<TileRun> runs(std::int64_t col0, std::int64_t col1) const;

  const Architecture& arch_;
  const BlockPlan& plan_;
  std::int64_t step_ = 0;
  std::size_t at_ = 0;
  std::vector<BlockTile> tiles_;  // of the step
};

// The same tiles run by run.
class BlockRuns {
 public:
  BlockRuns(const Architecture& arch, const BlockPlan& plan) : tiles_(arch, plan) { skip_empty_steps(); }

  bool done() const { return tiles_.done(); }
  const BlockTile& tile() const { return tiles_.tile(); }
  const TileRun& run() const { return tile().runs[run_]; }
  void next() {
    if (++run_ < tile().runs.size()) return;
    run_ = 0;
    tiles_.next_tile();
    skip_empty_steps();
  }

 private:
  void skip_empty_steps() {
    while (!tiles_.done() && !tiles_.step_has_tile()) tiles_.next_step();
  }
  BlockTiles tiles_;
  std::size_t run_ = 0;  // of the tile
};

// The same tiles by turns: those that one set of accumulators computes before it is exchanged, which are one
// tile, or all segments of a block of one tile.
class BlockTurns {
 public:
  BlockTurns(const Architecture& arch, const BlockPlan& plan) : tiles_(arch, plan) { next(); }

  bool done() const { return done_; }
  // The first tile of the turn, and the one behind which the sets change roles.
  const BlockTile& first() const { return first_; }
  const BlockTile& last() const { return last_; }
  void next();

 private:
  bool find();  // a step with a tile left
  BlockTiles tiles_;
  bool done_ = false;
  BlockTile first_;
  BlockTile last_;
};

}  // namespace mantissa

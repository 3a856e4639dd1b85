#include "sim/machine/block_tiles.hpp"

#include <algorithm>

namespace mantissa {

std::int64_t output_row(const BlockPlan& plan, const BlockTile& tile, std::int64_t row) {
  const PassPhase& phase = plan.phases()[tile.phase].geometry;
  const std::int64_t at = tile.row0 + row;
  const std::int64_t image = at / phase.rows_per_image();
  const std::int64_t i = phase.first[0] + at / phase.places[1] % phase.places[0] * phase.stride[0];
  const std::int64_t j = phase.first[1] + at % phase.places[1] * phase.stride[1];
  return (image * phase.image[0] + i) * phase.image[1] + j;
}

std::vector<TileRun> BlockTiles::runs(std::int64_t col0, std::int64_t col1) const {
  const std::int64_t columns = plan_.columns_per_group();
  std::vector<TileRun> runs;
  for (std::int64_t group = col0 / columns; group * columns < col1; ++group)
    runs.push_back({group, std::max(col0, group * columns), std::min(col1, (group + 1) * columns)});
  return runs;
}

void BlockTiles::lay() {
  tiles_.clear();
  at_ = 0;
  if (done() || plan_.steps()[step_].empty()) return;
  const BlockStep& step = plan_.steps()[step_];
  const Rectangle block = plan_.outputs(step.block);
  for (std::size_t phase = 0; phase < plan_.phases().size(); ++phase) {
    const BlockPlan::Rows& part = plan_.rows(step.block_row, phase);
    for (std::int64_t row = part.begin; row < part.end; row += arch_.rows) {
      for (std::int64_t col = block.col0; col < block.col1; col += arch_.cols) {
        const std::int64_t cols = std::min<std::int64_t>(arch_.cols, block.col1 - col);
        tiles_.push_back({.step = step_,
                          .block = step.block,
                          .phase = phase,
                          .row0 = row,
                          .rows = std::min<std::int64_t>(arch_.rows, part.end - row),
                          .col0 = col,
                          .cols = cols,
                          .length = step.k_units * plan_.phases()[phase].k_per_unit,
                          .runs = runs(col, col + cols)});
      }
    }
  }
  // The sums of a single tile stay where they are from segment to segment.
  const bool alone = tiles_.size() == 1;
  for (BlockTile& tile : tiles_) {
    tile.goes_on = step.segment > 0 && !alone;
    tile.exchanged = step.closes_block || !alone;
  }
  tiles_.back().ends_step = true;
}

bool BlockTurns::find() {
  while (!tiles_.done() && !tiles_.step_has_tile()) tiles_.next_step();
  return !tiles_.done();
}

void BlockTurns::next() {
  done_ = !find();
  if (done_) return;
  first_ = last_ = tiles_.tile();
  tiles_.next_tile();
  while (!last_.exchanged) {
    find();
    last_ = tiles_.tile();
    tiles_.next_tile();
  }
}

}  // namespace mantissa

#include "sim/machine/block_feed.hpp"

#include "sim/machine/lockstep.hpp"

namespace mantissa {

BlockFeed::BlockFeed(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan,
                     BlockMemory& memory, BlockDequantizer* dequantizer)
    : parts_(parts),
      plan_(plan),
      memory_(memory),
      dequantizer_(dequantizer),
      skip_(job.skip),
      tiles_(parts.arch, plan),
      lowering_(parts, plan, memory, job.first, job.second),
      a_beat_(parts.array.width(BlockArraySlot::a), parts.formats.a.bits()),
      b_beat_(parts.array.width(BlockArraySlot::b), parts.formats.b.bits()) {
  if (dequantizer != nullptr) return;
  const Format& a = parts.formats.a.format();
  for (std::uint32_t code = 0; code < 256; ++code) a_zero_[code] = a.is_zero(code & a.code_mask());
}

// What a step waits for besides its accumulators, for which the array makes it wait.
bool BlockFeed::may_start() const {
  const BlockStep& step = plan_.steps()[tiles_.step()];
  return memory_.loaded(tiles_.step()) && (!step.opens_block || memory_.c().has_room(step.block));
}

void BlockFeed::start_step() {
  const BlockStep& step = plan_.steps()[tiles_.step()];
  if (step.opens_block) memory_.c().open(step.block);
  ++begun_;
}

bool BlockFeed::offer() {
  const bool found = find_beat();
  lowering_.drive(found && parts_.array.ready());
  return found;
}

bool BlockFeed::find_beat() {
  while (!tiles_.done() && !tiles_.step_has_tile()) {
    if (!parts_.array.ready() || !may_start()) return false;
    start_step();
    memory_.c().complete(plan_.steps()[tiles_.step()].block);
    ++fed_;
    tiles_.next_step();
  }
  if (tiles_.done() || (!in_step() && !may_start())) return false;
  if (!ready_) prepare_beat();
  return true;
}

void BlockFeed::prepare_beat() {
  const BlockTile& tile = tiles_.tile();
  if (slices_done_ == 0) {
    lowering_.begin(tile, tile.runs[run_]);
    write_run_inputs();
  }
  const LoweredBeat beat = lowering_.beat();
  slices_ = beat.count;
  ends_run_ = beat.last;
  const std::int64_t behind = slices_done_ + slices_;
  if (slices_ < 1 || slices_ > parts_.arch.port || behind > tile.length ||
      ends_run_ != (behind == tile.length)) {
    throw UnitFailure("lowering_unit gives a beat that is not the run's");
  }
  read_operands();

  const bool ends_tile = ends_run_ && run_ + 1 == tile.runs.size();
  BlockArraySlot& array = parts_.array;
  const auto put = [&array](BlockArraySlot::Input port, std::uint64_t value) {
    array.write(port, Bits(array.width(port), value));
  };
  array.write(BlockArraySlot::a, a_beat_.bits());
  array.write(BlockArraySlot::b, b_beat_.bits());
  put(BlockArraySlot::count, slices_);
  put(BlockArraySlot::last, ends_run_ ? 1 : 0);
  put(BlockArraySlot::swap, ends_tile && tile.exchanged ? 1 : 0);
  ready_ = true;
}

// Rows in use and columns that are enabled.
void BlockFeed::write_run_inputs() {
  const BlockTile& tile = tiles_.tile();
  const TileRun& run = tile.runs[run_];
  BlockArraySlot& array = parts_.array;
  Bits used(array.width(BlockArraySlot::used));
  for (std::int64_t row = 0; row < tile.rows; ++row) used.flip(static_cast<int>(row));
  Bits cols(array.width(BlockArraySlot::cols));
  for (std::int64_t col = run.col0; col < run.col1; ++col) cols.flip(static_cast<int>(col - tile.col0));
  array.write(BlockArraySlot::used, used);
  array.write(BlockArraySlot::cols, cols);
  array.write(BlockArraySlot::skip, Bits(1, skip_ ? 1 : 0));
}

void BlockFeed::read_operands() {
  const Architecture& arch = parts_.arch;
  const BlockTile& tile = tiles_.tile();
  const std::int64_t first_col = tile.runs[run_].col0 - tile.col0;
  a_beat_.clear();
  b_beat_.clear();
  nonzero_.assign(static_cast<std::size_t>(slices_) * arch.rows, 0);
  std::uint64_t nonzero = 0;
  for (int slice = 0; slice < slices_; ++slice) {
    const std::int64_t first_a = std::int64_t{slice} * arch.rows;
    const std::int64_t first_b = std::int64_t{slice} * arch.cols + first_col;
    lowering_.a_slice(slice, [&](std::int64_t row, std::uint32_t a) {
      a_beat_.set(first_a + row, a);
      if (is_zero(a)) return;
      nonzero_[first_a + row] = 1;
      ++nonzero;
    });
    lowering_.b_slice(slice, [&](std::int64_t col, std::uint32_t b) { b_beat_.set(first_b + col, b); });
  }
  if (dequantizer_ != nullptr) read_sums();
  taken_elements_ = skip_ ? nonzero : static_cast<std::uint64_t>(slices_ * tile.rows);
}

// What stands behind an array of integers sums rows and columns of its own.
void BlockFeed::read_sums() {
  const BlockTile& tile = tiles_.tile();
  const TileRun& run = tile.runs[run_];
  for (int slice = 0; slice < slices_; ++slice) {
    if (dequantizer_->wants_a(run.col0)) {
      lowering_.a_slice(slice, [&](std::int64_t row, std::uint32_t a) {
        dequantizer_->add_a(output_row(plan_, tile, row), run.group, a);
      });
    }
    if (dequantizer_->wants_b(tile.row0)) {
      lowering_.b_slice(slice,
                        [&](std::int64_t col, std::uint32_t b) { dequantizer_->add_b(run.col0 + col, b); });
    }
  }
}

WatchedBeat BlockFeed::beat() const { return {.nonzero = nonzero_, .skip = skip_, .last = ends_run_}; }

void BlockFeed::cycle(bool taken) {
  lowering_.cycle(taken);
  if (taken) end_beat();
}

void BlockFeed::end_beat() {
  const BlockTile& tile = tiles_.tile();
  const TileRun& run = tile.runs[run_];
  if (!in_step()) start_step();
  const auto cols = static_cast<std::uint64_t>(run.col1 - run.col0);
  const auto slices = static_cast<std::uint64_t>(slices_);
  counts_.a_taken += taken_elements_;
  counts_.macs += taken_elements_ * cols;
  counts_.skipped += (slices * static_cast<std::uint64_t>(tile.rows) - taken_elements_) * cols;
  counts_.b_staged += slices * cols;
  slices_done_ += slices_;
  ready_ = false;
  if (ends_run_) end_run();
}

void BlockFeed::end_run() {
  slices_done_ = 0;
  if (++run_ < tiles_.tile().runs.size()) return;
  run_ = 0;
  if (tiles_.tile().exchanged) ++exchanges_;
  const bool ends_step = tiles_.tile().ends_step;
  tiles_.next_tile();
  if (!ends_step) return;
  ++fed_;
  tiles_.next_step();
}

}  // namespace mantissa

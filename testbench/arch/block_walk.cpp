#include "testbench/arch/block_walk.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "testbench/arch/block_walk_traffic.hpp"

namespace mantissa::test {
namespace {

// A run at work: port, staging slots and rows of the array, or FP32 units.
class RunAtWork {
 public:
  RunAtWork(const Architecture& arch, const BlockJob& job, const PlannedRun& run)
      : arch_(arch), job_(job), run_(run), rows_(arch.rows) {
    for (Count k = 0; k < run.length; k += arch.window) ++windows_;
    if (job.fp32) fp32_left_ = in_use() * run.cols * run.length;
  }

  bool done() const {
    if (job_.fp32) return fp32_left_ <= 0;
    return slowest() == windows_;
  }

  // One cycle; returns how many elements of A were taken by rows in use.
  Count tick() {
    if (job_.fp32) {
      fp32_left_ -= arch_.fp32_macs_per_cycle;
      return done() ? in_use() * run_.length : 0;
    }
    // What port and rows see is how things were when the cycle began.
    const bool slot_is_free = staging_ < windows_ && staging_ - slowest() < arch_.depth;
    const Count readable = staging_;  // windows before it are complete
    Count taken = 0;
    for (Count r = 0; r < arch_.rows; ++r) {
      if (rows_[r].window < readable && work(r) && r < in_use()) ++taken;
    }
    if (slot_is_free) {
      slices_ += arch_.port;
      if (slices_ >= length(staging_)) {
        ++staging_;
        slices_ = 0;
      }
    }
    return taken;
  }

 private:
  struct Row {
    Count window = 0;
    Count k = 0;  // within the window: everything before it is settled
  };

  Count in_use() const { return static_cast<Count>(run_.nonzero.size()); }
  Count length(Count window) const {
    return std::min<Count>(arch_.window, run_.length - window * arch_.window);
  }
  Count slowest() const {
    return std::min_element(rows_.begin(), rows_.end(),
                            [](const Row& a, const Row& b) { return a.window < b.window; })
        ->window;
  }
  bool present(Count r, const Row& row) const {
    if (!job_.skip) return true;
    return r < in_use() && run_.nonzero[r][row.window * arch_.window + row.k];
  }

  // Whether the row took an element.
  bool work(Count r) {
    Row& row = rows_[r];
    const Count end = length(row.window);
    const auto pass_zeros = [&] {
      while (row.k < end && !present(r, row)) ++row.k;
    };
    pass_zeros();
    const bool takes = row.k < end;
    if (takes) {
      ++row.k;
      pass_zeros();
    }
    if (row.k == end) {
      ++row.window;
      row.k = 0;
    }
    return takes;
  }

  const Architecture& arch_;
  const BlockJob& job_;
  const PlannedRun& run_;
  Count windows_ = 0;
  Count fp32_left_ = 0;
  std::vector<Row> rows_;
  Count staging_ = 0;  // window that the port fills
  Count slices_ = 0;   // of it that are there
};

using Kind = PlannedTransfer::Kind;

struct Block {
  Count tiles_to_come = 0;  // whose last sums are not in C
  bool empty_step_began = false;
  bool drained = false;
  bool written_back = false;
};

struct Step {
  bool started = false;
  bool computed = false;
};

class Machine {
 public:
  Machine(const Architecture& arch, const BlockJob& job, const BlockPlan& plan, const Traffic& traffic)
      : arch_(arch),
        job_(job),
        plan_(plan),
        two_blocks_(traffic.two_blocks),
        dma_(arch, traffic.queue),
        blocks_(plan.blocks.size()),
        steps_(plan.steps.size()) {
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      blocks_[block].tiles_to_come = plan.blocks[block].last_tiles;
    for (const PlannedStep& step : plan.steps) {
      for (const PlannedTile& tile : step.tiles) tiles_.push_back({&tile, step.block});
    }
  }

  GemmCycles run() {
    while (!dma_.finished()) {
      if (++cycle_ > 50'000'000) throw std::logic_error("the machine does not stop");
      while (something_starts()) {
      }
      name_this_cycle();
      pass_one_cycle();
    }
    check_end();
    return cost_;
  }

 private:
  struct TileOfBlock {
    const PlannedTile* tile;
    Count block;
  };

  // Rows of a tile, some in each cycle.
  Count sum_cycles() const {
    Count cycles = 0;
    for (Count row = 0; row < arch_.rows; row += arch_.sum_rows) ++cycles;
    return cycles;
  }
  Count step_count() const { return static_cast<Count>(steps_.size()); }
  const PlannedStep* next_step() const {
    return steps_started_ < step_count() ? &plan_.steps[steps_started_] : nullptr;
  }
  // Whose place in C a block takes; below 0 if a place was never used.
  Count before_in_place(Count block) const { return block - (two_blocks_ ? 2 : 1); }
  bool room_for(const PlannedStep& step) const {
    const Count before = before_in_place(step.block);
    return !step.opens || before < 0 || blocks_[before].written_back;
  }
  bool loaded(Count step) const { return !dma_.awaits(Kind::load, step); }
  bool in_step() const { return steps_started_ > 0 && !steps_[steps_started_ - 1].computed; }

  // Everything that can begin at this boundary of cycles; one thing may make room for another.
  bool something_starts() {
    return roles_change() || step_starts() || tile_starts() || drain_starts() || transfer_starts();
  }

  bool roles_change() {
    if (!waits_for_roles_ || exchange_left_ > 0) return false;
    waits_for_roles_ = false;
    exchange_left_ = sum_cycles() + 1;
    exchanging_ = tiles_computed_ - 1;
    cost_.sums_stored += static_cast<std::uint64_t>(tiles_[exchanging_].tile->sums);
    // The set that exchanges works again after the next exchange. The tiles until then share the other set.
    auto next = tiles_.begin() + tiles_computed_;
    while (next != tiles_.end() && next->tile->sums_stay()) ++next;
    if (next != tiles_.end()) ++next;
    if (next != tiles_.end() && !next->tile->first_segment)
      cost_.sums_loaded += static_cast<std::uint64_t>(next->tile->sums);
    return true;
  }

  bool step_starts() {
    const PlannedStep* step = next_step();
    if (step == nullptr || in_step() || waits_for_roles_ || !room_for(*step) || !loaded(steps_started_))
      return false;
    Step& started = steps_[steps_started_++];
    started.started = true;
    tiles_of_step_left_ = static_cast<Count>(step->tiles.size());
    if (step->tiles.empty()) {
      started.computed = true;
      blocks_[step->block].empty_step_began = true;
    }
    return true;
  }

  bool tile_starts() {
    if (!in_step() || run_ || waits_for_roles_) return false;
    if (tiles_of_step_left_ == 0) throw std::logic_error("a step without a tile left goes on");
    start_run(0);
    return true;
  }
  void start_run(Count index) {
    run_index_ = index;
    run_.emplace(arch_, job_, tiles_[tiles_computed_].tile->runs[index]);
  }

  bool sums_are_in_c(Count block) const {
    const bool empty = plan_.blocks[block].last_tiles == 0;
    return empty ? blocks_[block].empty_step_began : blocks_[block].tiles_to_come == 0;
  }
  bool drain_starts() {
    if (drain_left_ > 0 || draining_ == static_cast<Count>(blocks_.size()) || !sums_are_in_c(draining_) ||
        dma_.awaits(Kind::norm_x, draining_))
      return false;
    // Statistics are sums, and have an order: row by row.
    const Count set_cycles = job_.statistics == DrainStatistics::none ? sum_cycles() : arch_.rows;
    drain_left_ = set_cycles * plan_.blocks[draining_].sets + arch_.pipe_latency;
    return true;
  }

  bool allowed(const PlannedTransfer& transfer) const {
    if (transfer.kind == Kind::write_back) return blocks_[transfer.of].drained;
    if (transfer.kind == Kind::norm_x) return steps_[plan_.blocks[transfer.of].first_step].started;
    if (transfer.of == 0) return true;
    const Step& before = steps_[transfer.of - 1];
    return transfer.early ? before.started : before.computed;
  }
  bool transfer_starts() {
    if (dma_.next() == nullptr || !allowed(*dma_.next())) return false;
    dma_.issue_next();
    return true;
  }

  void name_this_cycle() {
    if (run_) {
      ++cost_.compute;
      return;
    }
    const PlannedStep* step = next_step();
    const bool drains_at_the_end = step == nullptr && !blocks_.back().drained;
    if (waits_for_roles_ || drains_at_the_end) {
      ++cost_.stall_drain;
    } else if (step != nullptr && !room_for(*step)) {
      const bool drained = blocks_[before_in_place(step->block)].drained;
      ++(drained ? cost_.stall_write_back : cost_.stall_drain);
    } else if (dma_.oldest().kind == Kind::write_back) {
      ++cost_.stall_write_back;
    } else {
      ++cost_.stall_load;
    }
  }

  void pass_one_cycle() {
    // Parts in the order of the data's way backwards, so that none sees what another did in this cycle.
    move_data();
    if (drain_left_ > 0 && --drain_left_ == 0) blocks_[draining_++].drained = true;
    exchange();
    compute();
  }

  void move_data() {
    const auto ended = dma_.tick();
    if (!ended) return;
    cost_.dram_bytes += static_cast<std::uint64_t>(ended->bytes);
    cost_.sram_bytes += static_cast<std::uint64_t>(ended->buffer_bytes);
    if (ended->kind == Kind::write_back) blocks_[ended->of].written_back = true;
  }

  // Sums reach C one cycle after their exchange is over.
  void exchange() {
    if (arriving_ >= 0) {
      const auto& [tile, block] = tiles_[arriving_];
      if (tile->last_segment) --blocks_[block].tiles_to_come;
      arriving_ = -1;
    }
    if (exchange_left_ > 0 && --exchange_left_ == 0) arriving_ = exchanging_;
  }

  void compute() {
    if (!run_) return;
    const PlannedTile& tile = *tiles_[tiles_computed_].tile;
    const PlannedRun& run = tile.runs[run_index_];
    const Count taken = run_->tick();
    cost_.a_taken += static_cast<std::uint64_t>(taken);
    cost_.macs += static_cast<std::uint64_t>(taken * run.cols);
    if (!run_->done()) return;
    cost_.b_staged += static_cast<std::uint64_t>(run.length * run.cols);
    if (run_index_ + 1 < static_cast<Count>(tile.runs.size())) {
      start_run(run_index_ + 1);
      return;
    }
    run_.reset();
    waits_for_roles_ = !tile.sums_stay();
    ++tiles_computed_;
    if (--tiles_of_step_left_ == 0) steps_[steps_started_ - 1].computed = true;
  }

  void check_end() const {
    const bool all_done =
        steps_started_ == step_count() && !run_ && !waits_for_roles_ && exchange_left_ == 0 &&
        tiles_computed_ == static_cast<Count>(tiles_.size()) &&
        std::all_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.written_back; });
    if (!all_done) throw std::logic_error("the last write-back was not the end");
    if (cost_.cycles() != static_cast<std::uint64_t>(cycle_))
      throw std::logic_error("a cycle without a name");
  }

  const Architecture& arch_;
  const BlockJob& job_;
  const BlockPlan& plan_;
  const bool two_blocks_;
  WalkedDma dma_;
  std::vector<Block> blocks_;
  std::vector<Step> steps_;
  std::vector<TileOfBlock> tiles_;  // of the whole job
  Count cycle_ = 0;
  Count steps_started_ = 0;
  Count tiles_computed_ = 0;
  Count tiles_of_step_left_ = 0;
  std::optional<RunAtWork> run_;
  Count run_index_ = 0;
  bool waits_for_roles_ = false;  // a computed tile's set is not yet the one that exchanges
  Count exchange_left_ = 0;
  Count exchanging_ = 0;  // tile
  Count arriving_ = -1;   // tile
  Count draining_ = 0;    // block
  Count drain_left_ = 0;
  GemmCycles cost_;
};

void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

GemmCycles walk_blocks(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                       const std::vector<std::uint8_t>& first_nonzero) {
  const BlockPlan plan = plan_blocks(arch, job, mapping, first_nonzero);
  const Traffic traffic = plan_traffic(arch, job, mapping, plan);
  GemmCycles cost = Machine(arch, job, plan, traffic).run();

  for (const PlannedBlock& block : plan.blocks) {
    cost.drained += static_cast<std::uint64_t>(block.outputs);
    cost.tiles += static_cast<std::uint64_t>(block.sets);
  }
  cost.steps = plan.steps.size();
  cost.tensor_bytes = static_cast<std::uint64_t>(traffic.tensor_bytes);
  const auto bytes = [](std::uint64_t elements, int bits) {
    return static_cast<std::uint64_t>(bytes_of(static_cast<Count>(elements), bits));
  };
  const std::uint64_t x_drained = job.statistics == DrainStatistics::backward ? cost.drained : 0;
  cost.sram_bytes += bytes(cost.a_taken, job.a_bits) + bytes(cost.b_staged, job.b_bits) +
                     bytes(cost.sums_stored + cost.sums_loaded + cost.drained, job.sum_bits) +
                     bytes(x_drained, job.x_bits) + bytes(cost.drained, job.c_bits);
  const auto scheduled = static_cast<std::uint64_t>(plan.scheduled);
  check(cost.macs <= scheduled, "more MACs than were scheduled");
  check((job.skip && !job.fp32) || cost.macs == scheduled, "something was skipped");
  cost.skipped = scheduled - cost.macs;
  check(cost.drained == static_cast<std::uint64_t>(job.outputs.elements()), "not every output drained once");
  check(cost.dram_bytes >= cost.tensor_bytes, "less was moved than has to be");
  return cost;
}

}  // namespace mantissa::test

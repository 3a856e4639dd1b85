// When the steps of a pass load, compute, exchange sums and drain, when blocks are written back, and why the
// array stands still (ARITHMETIC.md 7, "Blocks"). Steps and their tiles are given one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/pass_timeline.hpp"
#include "sim/arch/transfer_queue.hpp"

namespace mantissa {

class BlockTimeline {
 public:
  // `two`: C holds two blocks. `drain_cycles`: of the rows of a tile. Keeps a reference. `recorder`: is told
  // all, if somebody looks.
  BlockTimeline(const Architecture& arch, bool two, std::int64_t drain_cycles, std::int64_t blocks,
                TimelineRecorder* recorder = nullptr);

  struct Load {
    std::int64_t bytes = 0;
    bool early = false;  // there is room as soon as the step before begins
  };
  struct Step {
    Load a, b;
    bool opens_block = false;
    std::int64_t x_bytes = 0;  // of the block that opens, for its drain
  };
  void step(const Step& step);
  // The next tile of this step. Without an exchange its sums stay where they are.
  void tile(std::uint64_t compute, bool exchange);
  // The present block is complete: so many tiles drain, and then so many bytes are written back.
  void close_block(std::int64_t tiles, std::int64_t bytes);
  // Writes back what is left; compute, stalls and DRAM bytes go to `cost`.
  void finish(GemmCycles& cost);

  std::uint64_t end() const { return queue_.end(); }

 private:
  struct Block {
    std::uint64_t drained = 0;
    std::uint64_t written = 0;
    std::int64_t bytes = 0;
  };

  void show(Activity activity, std::uint64_t begin, std::uint64_t end) {
    if (recorder_ != nullptr) recorder_->add(activity, begin, end);
  }
  // Idle cycles of the array for one reason; `idle` moves to the first cycle behind them.
  void name_idle(Activity reason, std::uint64_t& idle, std::uint64_t until);
  void transfer(Activity kind, std::int64_t bytes, std::uint64_t allowed);
  void load(const Load& load);
  void write_back();  // of the oldest block that has not been
  // Names the idle cycles from the end of compute to a step's start.
  void name_idle_until_step(std::uint64_t start, std::uint64_t room);

  const Architecture& arch_;
  bool two_;
  std::int64_t drain_cycles_;
  std::vector<Block> blocks_;  // as far as they are closed
  std::int64_t block_ = -1;    // the present one
  std::int64_t written_ = 0;   // blocks in the queue
  std::int64_t steps_in_block_ = 0;
  std::int64_t steps_ = 0;

  TransferQueue queue_;
  std::uint64_t loaded_ = 0;           // all loads so far
  std::vector<Interval> write_backs_;  // that may still matter, each from the end of the transfer before it

  std::uint64_t step_start_ = 0;
  std::uint64_t compute_end_ = 0;
  std::uint64_t next_start_ = 0;  // of a tile: its accumulators are free
  std::uint64_t exchange_done_ = 0;
  std::uint64_t sums_in_c_ = 0;  // of the present block
  std::uint64_t x_here_ = 0;
  bool first_tile_ = false;  // of the step
  GemmCycles cost_;
  TimelineRecorder* recorder_;
};

}  // namespace mantissa

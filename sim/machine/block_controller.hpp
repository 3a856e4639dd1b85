// Runs one pass on the second machine, cycle by cycle: lets the feed, the exchange of sums, the drain and the
// memory act in each of them, and names it by what it sees (ARITHMETIC.md 7, "Blocks", "Stalls").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sim/machine/block_drain.hpp"
#include "sim/machine/block_exchange.hpp"
#include "sim/machine/block_feed.hpp"
#include "sim/machine/block_memory.hpp"
#include "sim/machine/cycle_counter.hpp"

namespace mantissa {

class BlockController {
 public:
  // Lays the tensors into DRAM. Throws std::invalid_argument for a job that does not fit.
  BlockController(const BlockParts& parts, const BlockArrayJob& job);
  BlockController(const BlockController&) = delete;  // its parts refer to each other
  BlockController& operator=(const BlockController&) = delete;

  // A cycle begins: the array's inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the array shows.
  void cycle();
  // Nothing has gone into the array for a while, and nothing is in it: its clock may stand still.
  bool units_rest() const { return quiet_ > 2 && (!lanes_ || lanes_->rests()); }
  // What units with a clock of their own need of the time before the next cycle.
  sc_core::sc_time settle_time() const {
    return parts_.unpacker != nullptr ? parts_.unpacker->time_needed() : sc_core::SC_ZERO_TIME;
  }
  // Statistics may come behind the last write-back: those cycles are no longer of the pass.
  bool finished() const { return memory_.finished() && (!lanes_ || lanes_->done(true)); }
  std::uint64_t cycles() const { return static_cast<std::uint64_t>(cycle_); }

  ArrayRun result() const;

 private:
  CycleCounter::Kind kind(bool computes) const;
  std::uint64_t elements_taken() const;  // by an array of SystemC

  BlockParts parts_;
  BlockPlan plan_;
  BlockMemory memory_;
  std::unique_ptr<BlockDequantizer> dequantizer_;  // of an array of integers
  BlockFeed feed_;
  BlockExchange exchange_;
  std::optional<StatisticsLanes> lanes_;  // where the drain takes statistics and has units
  BlockDrain drain_;
  CycleCounter counter_{0};
  std::int64_t cycle_ = 0;
  std::int64_t computed_ = 0;      // steps
  bool offering_ = false;          // a beat
  int quiet_ = 0;                  // cycles since the array was busy
  std::uint64_t elements_before_;  // that the array had taken before this job
};

}  // namespace mantissa

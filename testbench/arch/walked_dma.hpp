// The DMA engine of the second machine (ARITHMETIC.md 7, "DMA" of its blocks), acting in every cycle: one
// queue, some transfers of it in flight, data of one at a time.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "testbench/arch/block_walk_pass.hpp"

namespace mantissa::test {

struct PlannedTransfer {
  enum class Kind { load, write_back, norm_x } kind = Kind::load;
  Count of = 0;  // step, block, or segment of a stream
  Count bytes = 0;
  Count buffer_bytes = 0;  // the same elements in a buffer: others where they lie packed in DRAM
  bool early = false;      // a load that fits beside what the step before it keeps
};

class WalkedDma {
 public:
  WalkedDma(const Architecture& arch, const std::vector<PlannedTransfer>& queue);

  bool finished() const { return queue_.empty(); }
  const PlannedTransfer& oldest() const { return queue_.front().plan; }
  // Whether such a transfer has not ended.
  bool awaits(PlannedTransfer::Kind kind, Count of) const;

  // What would be issued next; nothing while as many as can be are in flight.
  const PlannedTransfer* next() const;
  void issue_next();

  // One cycle; returns the transfer that ended with it.
  std::optional<PlannedTransfer> tick();

 private:
  struct Transfer {
    PlannedTransfer plan;
    Count latency_left = 0;
    Count data_left = 0;  // in fractions of a cycle
  };

  const Architecture& arch_;
  std::deque<Transfer> queue_;  // not ended, in order
  Count in_flight_ = 0;         // the first ones
};

}  // namespace mantissa::test

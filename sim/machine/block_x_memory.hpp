// The x of a batch norm whose gradients drain: in DRAM, and of each block, once loaded, beside its sums
// (ARITHMETIC.md 7, "Statistics").
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/arch/block_plan.hpp"
#include "sim/machine/block_array_job.hpp"
#include "sim/machine/queue_dma.hpp"

namespace mantissa {

// Keeps references.
class BlockXMemory {
 public:
  BlockXMemory(const BlockPlan& plan, const BlockArrayJob& job);

  bool needed() const { return job_.statistics.kind == DrainStatistics::backward; }
  std::int64_t dram_bytes() const;
  void lay(std::int64_t address, Dma& dma);

  void issue_load(std::int64_t block, QueueDma& dma);
  void end_load(std::int64_t block, const QueueDma& dma);
  bool arrived(std::int64_t block) const { return !needed() || blocks_.contains(block); }
  // An element of a block that has arrived.
  std::uint32_t element(std::int64_t block, std::int64_t row, std::int64_t col) const;
  void forget(std::int64_t block) { blocks_.erase(block); }  // it has drained

  std::int64_t moved_bytes() const;

 private:
  const BlockPlan& plan_;
  const BlockArrayJob& job_;
  int bits_;
  std::int64_t address_ = 0;
  std::int64_t moved_ = 0;                                    // elements
  std::map<std::int64_t, std::vector<std::uint8_t>> blocks_;  // packed, row by row
};

}  // namespace mantissa

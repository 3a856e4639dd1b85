// Sums between the array and the buffer C: what one set of accumulators has computed goes out, what it will
// go on with comes in, row by row (ARITHMETIC.md 7, "Two sets of accumulators").
#pragma once

#include <cstdint>

#include "sim/machine/block_parts.hpp"
#include "sim/machine/block_sum_buffer.hpp"
#include "sim/machine/block_tiles.hpp"

namespace mantissa {

// Keeps references.
class BlockExchange {
 public:
  BlockExchange(const BlockParts& parts, const BlockPlan& plan, BlockSumBuffer& c);

  // A cycle begins: rows that the array shows go to C, those that it takes are on its inputs.
  void drive();
  // Just before the clock edge that ends it. Throws std::overflow_error for a sum of integers that does not
  // fit.
  void cycle();

  std::int64_t done() const { return done_; }       // exchanges
  std::uint64_t stored() const { return stored_; }  // sums
  std::uint64_t loaded() const { return loaded_; }
  std::uint64_t suppressed_tiles() const { return suppressed_tiles_; }

 private:
  void store_rows();
  void load_rows();

  BlockParts parts_;
  const BlockPlan& plan_;
  BlockSumBuffer& c_;
  BlockTurns leaving_;
  BlockTurns coming_;  // two turns further: the set that this one's sums leave
  Bits no_sums_;
  std::int64_t row_ = 0;  // of the tiles, the first one in this cycle
  std::int64_t done_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t loaded_ = 0;
  std::uint64_t suppressed_tiles_ = 0;
};

}  // namespace mantissa

// The results' way: a block of sums through Cols lanes of bias and quantizer, in place, in the buffer C
// (ARITHMETIC.md 7, "Drain").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/machine/block_dequantizer.hpp"
#include "sim/machine/block_parts.hpp"
#include "sim/machine/block_sum_buffer.hpp"
#include "sim/machine/block_x_memory.hpp"
#include "sim/machine/statistics_lanes.hpp"

namespace mantissa {

// What a drain may have, or nullptr.
struct DrainParts {
  const BlockDequantizer* dequantizer;  // of an array of integers
  StatisticsLanes* statistics;          // they get what drains
};

// Keeps references.
class BlockDrain {
 public:
  BlockDrain(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan, BlockSumBuffer& c,
             BlockXMemory& x, const DrainParts& with);

  // A cycle passes.
  void clock();

  std::int64_t blocks() const { return blocks_; }  // that have drained
  std::uint64_t tiles() const { return tiles_; }
  std::uint64_t elements() const { return elements_; }
  const std::vector<std::uint8_t>& flags() const { return flags_; }  // [rows, columns] of the job

 private:
  enum class State : std::uint8_t { idle, send, flush };
  void begin();
  void set_lanes();
  void send_rows();
  void send(std::int64_t row, std::int64_t lane);
  std::uint32_t quantized(std::int64_t m, std::int64_t n, std::uint32_t draw);
  void next_tile();
  void end_block();

  BlockParts parts_;
  const BlockArrayJob& job_;
  const BlockPlan& plan_;
  BlockSumBuffer& c_;
  const BlockDequantizer* dequantizer_;
  BlockXMemory& x_;
  StatisticsLanes* statistics_;
  std::int64_t rows_in_a_cycle_;  // sums of a channel have an order: with statistics it is one
  PassSides sides_;
  Conversion quantize_;
  std::vector<Lfsr> lanes_;  // none: the drain draws nothing

  State state_ = State::idle;
  Rectangle block_;             // that drains
  std::int64_t first_row_ = 0;  // of Rows rows and Cols columns of it
  std::int64_t first_col_ = 0;
  std::int64_t row_ = 0;         // of those, the first one in this cycle
  std::int64_t flush_left_ = 0;  // cycles
  std::int64_t blocks_ = 0;
  std::uint64_t tiles_ = 0;
  std::uint64_t elements_ = 0;
  std::vector<std::uint8_t> flags_;
};

}  // namespace mantissa

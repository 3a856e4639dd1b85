// The operands' way into block_array: the steps of a pass, run by run and beat by beat, from the address
// generator to the array's inputs (ARITHMETIC.md 7, "Blocks", "Order").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/beat_operand.hpp"
#include "sim/machine/block_dequantizer.hpp"
#include "sim/machine/block_lowering.hpp"
#include "sim/machine/block_memory.hpp"
#include "sim/machine/block_tiles.hpp"

namespace mantissa {

// Keeps references.
class BlockFeed {
 public:
  // `dequantizer`: of an array of integers, or nullptr.
  BlockFeed(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan, BlockMemory& memory,
            BlockDequantizer* dequantizer);

  // A cycle begins. Empty steps that may start do so; then, the next beat is on the array's inputs, or there
  // is none: all are fed, or the next step may not start for want of lines or of room in C.
  bool offer();
  // The one on the inputs, for who watches the array.
  WatchedBeat beat() const;
  // It ends, and the array takes the beat on its inputs with it, or none.
  void cycle(bool taken);

  std::int64_t begun() const { return begun_; }  // steps
  std::int64_t fed() const { return fed_; }      // steps, completely
  std::int64_t exchanges() const {
    return exchanges_;
  }  // tiles, completely fed, that the sets change roles for
  bool in_step() const { return begun_ > fed_; }
  // Elements of A and B, and MACs, of the beats that were taken; MACs left out are `skipped`.
  const GemmCycles& counts() const { return counts_; }

 private:
  bool may_start() const;
  bool find_beat();
  void start_step();
  void prepare_beat();
  void read_operands();
  void read_sums();
  bool is_zero(std::uint32_t a) const { return dequantizer_ != nullptr ? a == 0 : a_zero_[a]; }
  void write_run_inputs();
  void end_beat();
  void end_run();

  BlockParts parts_;
  const BlockPlan& plan_;
  BlockMemory& memory_;
  BlockDequantizer* dequantizer_;
  bool skip_;
  BlockTiles tiles_;
  BlockLowering lowering_;
  std::array<bool, 256> a_zero_{};  // of all codes

  std::size_t run_ = 0;           // of the tile
  std::int64_t slices_done_ = 0;  // of the run
  std::int64_t begun_ = 0;
  std::int64_t fed_ = 0;
  std::int64_t exchanges_ = 0;
  GemmCycles counts_;

  // The beat on the inputs.
  bool ready_ = false;
  int slices_ = 0;
  bool ends_run_ = false;
  std::vector<std::uint8_t> nonzero_;  // of rows in use
  std::uint64_t taken_elements_ = 0;   // of A, that rows in use will take of it
  BeatOperand a_beat_;
  BeatOperand b_beat_;
};

}  // namespace mantissa

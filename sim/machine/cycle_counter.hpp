// Every cycle of a GEMM is compute or exactly one stall (ARITHMETIC.md 7, "Stalls"). Whether the array
// computes is seen from outside, at its ports; then it works for RTL and SystemC alike.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

class CycleCounter {
 public:
  enum class Kind : std::uint8_t { compute, load, write_back, drain };

  explicit CycleCounter(int pipe_latency) : pipe_latency_(pipe_latency) {}

  void count(Kind kind);
  // The array has all of a tile's operands, and does not show when it has finished. Counted as compute, or as
  // `if_idle`, once the tile's first row shows: the drain begins with the first idle cycle, and the row comes
  // PipeLatency cycles later.
  void count_undecided(Kind if_idle);
  void first_row_shows();

  void add_to(GemmCycles& cycles) const;

 private:
  int pipe_latency_;
  GemmCycles counts_;
  std::deque<Kind> undecided_;  // the last cycles, at most pipe_latency_
};

}  // namespace mantissa

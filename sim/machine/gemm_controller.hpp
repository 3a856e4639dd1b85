// Runs one GEMM on the machine, cycle by cycle: lets the feed, the drain and the memory act in each of them,
// and names it by what it sees (ARITHMETIC.md 7, "Stalls").
#pragma once

#include <cstdint>
#include <optional>

#include "sim/machine/cycle_counter.hpp"
#include "sim/machine/dequantizer.hpp"
#include "sim/machine/gemm_drain.hpp"
#include "sim/machine/gemm_feed.hpp"
#include "sim/machine/gemm_memory.hpp"
#include "sim/machine/gemm_plan.hpp"

namespace mantissa {

class GemmController {
 public:
  // Lays A and B into DRAM. Throws std::invalid_argument for a job that does not fit.
  GemmController(const MachineParts& parts, const ArrayJob& job);
  GemmController(const GemmController&) = delete;  // its parts refer to each other
  GemmController& operator=(const GemmController&) = delete;

  // A cycle begins: the array's inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the array shows.
  void cycle();
  // Nothing has gone into the array for a while, and nothing is in it: its clock may stand still.
  bool units_rest() const { return quiet_ > 2; }
  bool finished() const { return memory_.finished(); }
  std::uint64_t cycles() const { return static_cast<std::uint64_t>(cycle_); }

  ArrayRun result() const;

 private:
  // Whether the array computes, as its ports tell.
  enum class Seen : std::uint8_t { idle, feeding, finishing_step, finishing_tile };
  static Seen seen_after(GemmFeed::Ends ends);

  bool array_busy() const;
  CycleCounter::Kind idle_kind() const;
  void classify(bool beat_fired, bool row_shown);

  MachineParts parts_;
  GemmPlan plan_;
  std::optional<Dequantizer> dequantizer_;  // of an array of integers
  GemmMemory memory_;
  GemmFeed feed_;
  GemmDrain drain_;
  std::int64_t cycle_ = 0;
  bool offering_ = false;  // a beat
  bool taking_ = false;    // a row

  Seen seen_ = Seen::idle;
  int quiet_ = 0;  // cycles since the array was busy
  CycleCounter counter_;
  std::uint64_t elements_before_ = 0;  // that the array had taken before this job
};

}  // namespace mantissa

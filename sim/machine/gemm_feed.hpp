// The operands' way into the array: the steps of a GEMM, beat by beat, from the buffers to the array's inputs
// (ARITHMETIC.md 7, "Order").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/beat_operand.hpp"
#include "sim/machine/dequantizer.hpp"
#include "sim/machine/gemm_memory.hpp"

namespace mantissa {

// Keeps references.
class GemmFeed {
 public:
  // `dequantizer`: of an array of integers, which wants the sums of rows and columns; or nullptr.
  GemmFeed(const MachineParts& parts, const ArrayJob& job, const GemmPlan& plan, const GemmMemory& memory,
           Dequantizer* dequantizer);

  // The next beat is on the array's inputs; false: there is none, or its step is not loaded.
  bool offer();
  // What ends with a beat.
  enum class Ends : std::uint8_t { nothing, step, tile };
  // The array has taken the beat on its inputs.
  Ends taken();

  std::int64_t begun() const { return begun_; }  // steps
  std::int64_t tiles() const { return tiles_; }  // completely fed
  // Elements of A and B, and MACs, of the beats that were taken.
  const GemmCycles& counts() const { return counts_; }

 private:
  void prepare_beat();
  void read_operands();
  void write_drain_inputs();
  bool is_zero(std::uint32_t a) const { return dequantizer_ != nullptr ? a == 0 : a_zero_[a]; }

  MachineParts parts_;
  const ArrayJob& job_;
  const GemmPlan& plan_;
  const GemmMemory& memory_;
  Dequantizer* dequantizer_;
  std::vector<std::uint32_t> seeds_;  // of the drain's lanes; empty: it draws nothing
  std::array<bool, 256> a_zero_{};    // of all codes

  std::int64_t index_ = 0;  // of the step whose beats go out
  PlannedStep step_;
  std::int64_t fed_ = 0;  // slices of it
  std::int64_t begun_ = 0;
  std::int64_t tiles_ = 0;
  GemmCycles counts_;

  // The beat on the inputs.
  bool ready_ = false;
  int slices_ = 0;
  std::uint64_t taken_elements_ = 0;  // of A, that rows in use will take of it
  BeatOperand a_beat_;
  BeatOperand b_beat_;
};

}  // namespace mantissa

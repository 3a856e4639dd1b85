// Runs one pass of Range BN on the machine, cycle by cycle: feeds the units from the buffers, takes
// what they give, and names the cycles (ARITHMETIC.md 8, "On the accelerator").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/cycle_counter.hpp"
#include "sim/machine/norm_job.hpp"
#include "sim/machine/norm_memory.hpp"
#include "sim/machine/norm_plan.hpp"
#include "sim/machine/norm_units.hpp"

namespace mantissa {

class NormController {
 public:
  // Lays x and g into DRAM. Throws std::invalid_argument for a job that does not fit.
  NormController(NormUnits& units, const NormMemoryParts& parts, const NormJob& job);

  // A cycle begins: the units' inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the units show. Throws UnitFailure
  // for units that give what nobody waits for, or nothing at all.
  void cycle();
  // Nothing has gone into the units for a while, and nothing is in them: their clocks may stand still.
  bool units_rest() const;
  bool finished() const { return memory_.finished(); }
  std::uint64_t cycles() const { return static_cast<std::uint64_t>(cycle_); }

  NormRun result() const;

 private:
  // What a lane has done of the present step, and what is on its inputs.
  struct Lane {
    std::int64_t fed = 0;
    std::int64_t results = 0;
    bool saved = false;     // the statistics of its channel are here
    bool offering = false;  // an element
  };

  bool backward() const { return job_.direction == NormDirection::backward; }
  std::int64_t channel(std::int64_t lane) const {  // of the job
    return step_.group * arch_.norm_lanes + lane;
  }

  void begin_step();
  void quantize_inv();
  void write_registers(std::int64_t lane);
  void feed(std::int64_t lane);
  void write(std::int64_t lane, int port, std::uint64_t value);
  void write(std::int64_t lane, int port, float value);

  void element_taken(std::int64_t lane);
  void take_result(std::int64_t lane);
  void take_forward(std::int64_t lane);
  void take_backward(std::int64_t lane);
  void take_element(std::int64_t lane, std::uint32_t bits);
  [[noreturn]] void unexpected(std::int64_t lane, const char* what) const;
  bool step_done() const;
  void end_step();

  const Architecture& arch_;
  NormUnits& units_;
  const NormJob& job_;
  ElementDecoder x_value_;
  ElementDecoder g_value_;
  NormStreams streams_;
  NormPlan plan_;
  RangeBnRegisters registers_;
  NormMemory memory_;
  std::vector<std::uint32_t> draws_;  // of the results' quantizer, in tensor order; empty: it draws nothing
  std::int64_t cycle_ = 0;

  // Computing: the step that is computed, or the next one.
  std::int64_t index_ = 0;
  NormStep step_;
  bool computing_ = false;
  std::int64_t step_began_ = 0;  // cycle
  std::vector<Lane> lanes_;
  int quiet_ = 0;  // cycles since the units had anything to do
  CycleCounter counter_{0};

  NormRun run_;
};

}  // namespace mantissa

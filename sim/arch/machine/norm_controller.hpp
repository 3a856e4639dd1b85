// Runs one pass of Range BN on the machine, cycle by cycle: cuts it into steps, feeds the units from the
// buffers, sends the DMA on its way and takes what the units give (ARITHMETIC.md 8, "On the accelerator").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/machine/cycle_counter.hpp"
#include "sim/arch/machine/dma.hpp"
#include "sim/arch/machine/dram.hpp"
#include "sim/arch/machine/norm_plan.hpp"
#include "sim/arch/machine/norm_units.hpp"
#include "sim/arch/machine/sram_buffer.hpp"
#include "sim/arch/norm_job.hpp"

namespace mantissa {

// What the controller works with.
struct NormMachineParts {
  const Architecture& arch;
  NormUnits& units;
  Dma& dma;
  Dram& dram;
  SramBuffer& a;
  SramBuffer& b;
  SramBuffer& results;
};

class NormController {
 public:
  // Lays x and g into DRAM. Throws std::invalid_argument for a job that does not fit.
  NormController(const NormMachineParts& parts, const NormJob& job);

  // A cycle begins: the units' inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the units show. Throws std::runtime_error
  // for units that give what nobody waits for, or nothing at all.
  void cycle();
  // Nothing has gone into the units for a while, and nothing is in them: their clocks may stand still.
  bool units_rest() const;
  bool finished() const { return written_ == plan_.blocks(); }
  std::uint64_t cycles() const { return static_cast<std::uint64_t>(cycle_); }

  NormRun result() const;

 private:
  // The queue of transfers is a place in the list of ARITHMETIC.md 8: of step i its loads, then perhaps the
  // write-back of the step before. After the last step comes the last write-back.
  enum class Transfer : std::uint8_t { load_x, load_g, write_back };
  // What a lane has done of the present step, and what is on its inputs.
  struct Lane {
    std::int64_t fed = 0;
    std::int64_t results = 0;
    bool saved = false;     // the statistics of its channel are here
    bool offering = false;  // an element
  };

  void check() const;
  void fill_dram(const StoredTensor& tensor, bool gradient);
  bool backward() const { return job_.direction == NormDirection::backward; }
  std::int64_t channel(std::int64_t lane) const {  // of the job
    return step_.group * parts_.arch.norm_lanes + lane;
  }

  bool transfer_exists() const;
  void next_transfer();
  bool transfer_may_start() const;
  void start_transfer();
  void end_transfer();
  void clock_dma();
  bool loaded() const;
  bool half_free() const { return !step_.second || written_ >= step_.block - 1; }

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

  NormMachineParts parts_;
  const NormJob& job_;
  NormStreams streams_;
  NormPlan plan_;
  RangeBnRegisters registers_;
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

  // DMA.
  std::int64_t dma_index_ = 0;  // step
  Transfer dma_transfer_ = Transfer::load_x;
  NormStep dma_step_;
  std::int64_t written_ = 0;  // blocks of results, in DRAM

  NormRun run_;
};

}  // namespace mantissa

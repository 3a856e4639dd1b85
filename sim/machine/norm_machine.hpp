// The batch norm units of the accelerator in SystemC, cycle by cycle, with the same buffers, DMA engine and
// DRAM as the array has (ARITHMETIC.md 8, "On the accelerator"). A unit is the SystemC one, the Verilated
// RTL, or both.
#pragma once

#include <memory>

#include "sim/machine/lockstep.hpp"
#include "sim/machine/norm_job.hpp"

namespace mantissa {

// Made before the first accelerator runs, as all of them.
class NormMachine {
 public:
  // Throws std::invalid_argument for what cannot be built, and what compiling RTL throws.
  NormMachine(const Architecture& arch, const NormSize& size, const AcceleratorOptions& options = {});
  ~NormMachine();
  NormMachine(const NormMachine&) = delete;
  NormMachine& operator=(const NormMachine&) = delete;

  // Jobs run one after the other, each from reset. Throws std::invalid_argument for a job that does not fit,
  // LockstepError and UnitFailure.
  NormRun run(const NormJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa

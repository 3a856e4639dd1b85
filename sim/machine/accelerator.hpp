// The accelerator in SystemC, cycle by cycle: array, double-buffered A, B and C, one DMA engine, DRAM, and
// the controller that tiles GEMMs (ARITHMETIC.md 7). The array is the SystemC unit, the Verilated RTL, or
// both.
#pragma once

#include <memory>

#include "sim/machine/array_job.hpp"
#include "sim/machine/lockstep.hpp"

namespace mantissa {

// SystemC elaborates once per process: all accelerators are made before any of them runs. One that has no job
// costs nothing: its clock stands still.
class Accelerator {
 public:
  // Throws std::invalid_argument for what cannot be built, and what compiling RTL throws.
  Accelerator(const Architecture& arch, const ArrayFormats& formats, const AcceleratorOptions& options = {});
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const Architecture& architecture() const;
  const ArrayFormats& formats() const;

  // Jobs run one after the other, each from reset. Throws std::invalid_argument for a job that does not fit,
  // LockstepError, and UnitFailure of RTL alone.
  ArrayRun run(const ArrayJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa

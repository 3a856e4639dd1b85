// The lanes of the second machine that update weights, cycle by cycle: a stream through weight_update units
// with the queue of transfers, buffers and DRAM that the array has (ARITHMETIC.md 7, "Streams"; 11, "On the
// accelerator"). A unit is the SystemC one, the Verilated RTL, or both.
#pragma once

#include <memory>

#include "sim/machine/lockstep.hpp"
#include "sim/machine/update_job.hpp"

namespace mantissa {

// Made before the first accelerator runs, as all of them.
class UpdateMachine {
 public:
  // With `update_lanes` units that round weights so. Throws std::invalid_argument for what cannot be built,
  // and what compiling RTL throws.
  UpdateMachine(const Architecture& arch, Rounding rounding, const AcceleratorOptions& options = {});
  ~UpdateMachine();
  UpdateMachine(const UpdateMachine&) = delete;
  UpdateMachine& operator=(const UpdateMachine&) = delete;

  // Jobs run one after the other, each from reset. Throws std::invalid_argument for a job that does not fit,
  // LockstepError and UnitFailure.
  UpdateRun run(const UpdateJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa

// The accelerator of mapping auto in SystemC, cycle by cycle: block_array or int_block_array and two
// lowering_units (SystemC, Verilated RTL, or both) between line buffers A and B and a buffer C for blocks of
// sums, DRAM behind a queue of transfers (ARITHMETIC.md 7, "Blocks: the second machine").
#pragma once

#include <memory>

#include "sim/machine/block_array_job.hpp"
#include "sim/machine/lockstep.hpp"

namespace mantissa {

// SystemC elaborates once per process: all accelerators are made before any of them runs. One that has no job
// costs nothing: its clock stands still.
class BlockAccelerator {
 public:
  // Throws std::invalid_argument for what cannot be built (layers of FP32 operands have no array), and what
  // compiling RTL throws.
  BlockAccelerator(const Architecture& arch, const ArrayFormats& formats,
                   const AcceleratorOptions& options = {});
  ~BlockAccelerator();
  BlockAccelerator(const BlockAccelerator&) = delete;
  BlockAccelerator& operator=(const BlockAccelerator&) = delete;

  const Architecture& architecture() const;
  const ArrayFormats& formats() const;

  // Jobs run one after the other, each from reset. `suppressed_tiles` counts tiles of steps. Throws
  // std::invalid_argument for a job that does not fit, LockstepError, and UnitFailure of RTL alone.
  ArrayRun run(const BlockArrayJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa

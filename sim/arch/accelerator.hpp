// The accelerator in SystemC, cycle by cycle: array, double-buffered A, B and C, one DMA engine, DRAM, and
// the controller that tiles GEMMs (ARITHMETIC.md 7). The array is the SystemC unit, the Verilated RTL, or
// both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "sim/arch/array_job.hpp"
#include "sim/arch/engine.hpp"
#include "sim/units/mismatch.hpp"

namespace mantissa {

struct AcceleratorOptions {
  Engine engine = Engine::systemc;
  // Where the RTL is taken from; empty: this project's own.
  std::filesystem::path rtl_directory = {};
  // Where a lockstep run that finds a difference writes the waveform of it; empty: nowhere.
  std::filesystem::path wave = {};
};

// The first cycle in which SystemC and RTL do not agree, and what it takes to get there again.
struct LockstepDifference {
  std::string unit = "mac_array";
  Mismatch mismatch = {};  // expected: SystemC; actual: RTL; the cycle counts from the start of the job
  std::uint64_t seed = 0;
  std::filesystem::path wave = {};  // FST, from the job's reset to a few cycles past the difference; or none
};

class LockstepError : public std::runtime_error {
 public:
  explicit LockstepError(LockstepDifference difference);
  const LockstepDifference& difference() const { return difference_; }

 private:
  LockstepDifference difference_;
};

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
  // and LockstepError.
  ArrayRun run(const ArrayJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa

// The lockstep bench: golden model, SystemC unit and RTL get the same stimulus under random stalls; every
// output of every cycle is compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/units/mismatch.hpp"
#include "sim/units/rtl_module.hpp"
#include "sim/verify/reference.hpp"

namespace mantissa::verify {

struct LockstepOptions {
  std::uint64_t transactions = 100000;
  std::uint64_t seed = 1;
  bool exhaustive = false;  // all of the reference's exhaustive stimulus, without stalls
  std::uint64_t hang_cycles = 10000;
  // The waveform has these cycles only; no path: none is written.
  std::filesystem::path wave;
  std::uint64_t wave_first = 0;
  std::uint64_t wave_last = ~std::uint64_t{0};
};

using mantissa::Mismatch;

struct LockstepResult {
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  std::uint64_t cycles = 0;
  double seconds = 0;
  std::optional<Mismatch> mismatch;  // the run ends with the first one
};

// Called now and then with transactions done and wanted.
using ProgressReport = std::function<void(std::uint64_t, std::uint64_t)>;

// Before the run the units work for a while on stimulus of `rehearsal`, a reference that is not used
// otherwise, and are reset in the middle of it: nothing of it may be left. With `compare_systemc` off the RTL
// is compared with the golden model alone, output by output, whatever its latency; the SystemC unit then only
// runs along. With `back_pressure` off outputs are always taken. One call per process: the SystemC kernel
// elaborates once.
LockstepResult run_lockstep(Reference& reference, Reference& rehearsal, UnitModule& systemc,
                            bool compare_systemc, RtlModule& rtl, Device& device, bool back_pressure,
                            const LockstepOptions& options, const ProgressReport& progress);

}  // namespace mantissa::verify

// One run of `mantissa verify`: a unit in one configuration, compiled, simulated in a process of its own,
// reported.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/dut/verilator.hpp"
#include "sim/dut/watchdog.hpp"
#include "sim/verify/isolated.hpp"
#include "sim/verify/lockstep.hpp"
#include "sim/verify/unit_kind.hpp"

namespace mantissa::verify {

// Somebody else's RTL in the unit's place.
struct ForeignDevice {
  VerilatorJob sources;  // parameters included
  DeviceMap map;
};

struct VerifyJob {
  const UnitKind* kind = nullptr;
  Configuration configuration;
  LockstepOptions lockstep;
  std::optional<ForeignDevice> foreign;
  std::string corrupt_stage;            // of the SystemC unit; empty: none
  std::filesystem::path coverage_data;  // where RTL coverage goes; empty: none is measured
  Watchdog::Seconds timeout{60};        // for one call of the device
};

struct VerifyReport {
  LockstepResult lockstep;
  bool died = false;     // the device ended the simulation, or hangs: there is a mismatch and nothing else
  double rtl_speed = 0;  // operations per second of the RTL alone, without stalls
  std::vector<FunctionalCoverage::Bin> bins;
  std::vector<std::string> missing_outputs;  // of a foreign device: they were not compared
  std::vector<std::string> undriven_inputs;  // of a foreign device: they stayed 0
  bool circular = false;                     // as CompiledDevice
};

// Throws what verilate and RtlModule throw. A device that ends the simulation, or hangs, is a
// mismatch.
VerifyReport run_verify(const VerifyJob& job, const ReportProgress& progress);

}  // namespace mantissa::verify

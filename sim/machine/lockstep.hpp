// How a machine is simulated, and what lockstep finds: the first cycle in which SystemC and RTL do not agree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/machine/drain_statistics.hpp"
#include "sim/machine/engine.hpp"
#include "sim/units/mismatch.hpp"

namespace mantissa {

struct AcceleratorOptions {
  Engine engine = Engine::systemc;
  // Where the RTL is taken from; empty: this project's own.
  std::filesystem::path rtl_directory = {};
  // Where a lockstep run that finds a difference writes the waveform of it; empty: nowhere.
  std::filesystem::path wave = {};
  // Of the second machine: units behind the drain take the statistics that a job asks for.
  DrainRoom drain_statistics = {};
};

// What it takes to get to the difference again.
struct LockstepDifference {
  std::string unit = "mac_array";
  Mismatch mismatch = {};  // expected: SystemC; actual: RTL; the cycle counts from the start of the job
  std::uint64_t seed = 0;
  std::filesystem::path wave = {};  // FST, from the job's reset to a few cycles past the difference; or none
};

class LockstepError : public std::runtime_error {
 public:
  explicit LockstepError(LockstepDifference difference)
      : std::runtime_error(difference.unit + ": " + difference.mismatch.what + " in cycle " +
                           std::to_string(difference.mismatch.cycle)),
        difference_(std::move(difference)) {}
  const LockstepDifference& difference() const { return difference_; }

 private:
  LockstepDifference difference_;
};

// The unit hung or gave an output that nobody waits for.
class UnitFailure : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// What a UnitFailure says of a unit that has had all the cycles of its job.
inline std::string not_finished(const std::string& unit, std::uint64_t cycles) {
  return unit + ": the job has not ended after " + std::to_string(cycles) + " cycles";
}

}  // namespace mantissa

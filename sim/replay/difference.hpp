// A machine did something else than the golden kernels and the closed form: what a person reads then.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/replay/simulated_check.hpp"

namespace mantissa::replay {

// what() is the whole story, for a person, over several lines.
class Difference : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// The command that repeats the run, as the last line; empty where there is none.
std::string again(const CheckOptions& options);

// SystemC and RTL differ; `what` is the pass, `job` what its cycles are counted in.
std::string lockstep_text(const LockstepDifference& difference, const std::string& what,
                          const std::string& job);

// Cycles after which RTL that has not finished never will. Slower RTL has time to show its figures.
std::uint64_t patience(const GemmCycles& expected);

// Figures side by side, wrong ones marked.
std::string cost_text(const GemmCycles& expected, const GemmCycles& actual);

}  // namespace mantissa::replay

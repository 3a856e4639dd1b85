// Updates of weights on the simulated second machine, compared with the golden model and the closed form.
#pragma once

#include <cstdint>
#include <string>

#include "sim/machine/update_machine.hpp"
#include "sim/replay/simulated_check.hpp"
#include "sim/replay/update_pass.hpp"

namespace mantissa::replay {

class SimulatedUpdate {
 public:
  SimulatedUpdate(const Architecture& arch, Rounding rounding, CheckOptions options);

  // All parameters in one job, or the first segments of them. Throws Difference.
  void run(const UpdateValues& update, const std::string& what);
  std::uint64_t segments_run() const { return segments_run_; }

 private:
  void compare(const UpdateJob& job, const UpdateRun& run, const std::string& place) const;
  [[noreturn]] void differs(const std::string& place, const std::string& what) const;

  Architecture arch_;
  CheckOptions options_;
  UpdateMachine machine_;
  std::uint64_t segments_run_ = 0;
};

}  // namespace mantissa::replay

// Range BN on the simulated accelerator, compared with the golden model and the closed form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/machine/norm_machine.hpp"
#include "sim/machine/norm_stream.hpp"
#include "sim/replay/norm_pass.hpp"
#include "sim/replay/simulated_check.hpp"

namespace mantissa::replay {

class SimulatedNorm {
 public:
  SimulatedNorm(const Architecture& arch, const NormSize& size, CheckOptions options);

  // All groups of channels in one job, or single ones that are sampled. Throws Difference.
  void run(const NormPass& pass, const NormResult& result, const std::string& what);
  std::uint64_t groups_run() const { return groups_run_; }

 private:
  // The second pass of a fused norm, of the first image where single groups are sampled.
  void run_stream(const NormPass& pass, const NormResult& result, const NormJob& norm,
                  const std::string& what);
  void run_job(const NormPass& pass, const NormResult& result, const NormJob& job, const std::string& what);
  void compare(const NormResult& result, const NormJob& job, const NormRun& run,
               const std::string& place) const;
  [[noreturn]] void differs(const std::string& place, const std::string& what) const;

  Architecture arch_;
  CheckOptions options_;
  NormMachine machine_;
  std::unique_ptr<NormStreamMachine> stream_;  // with norm_fusion: drain
  std::uint64_t groups_run_ = 0;
};

}  // namespace mantissa::replay

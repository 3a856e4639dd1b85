// Passes on the simulated second machine, compared with the golden kernels and its closed form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/machine/block_accelerator.hpp"
#include "sim/replay/cross_check.hpp"
#include "sim/replay/gemm_pass.hpp"
#include "sim/replay/simulated_check.hpp"

namespace mantissa::replay {

class BlockCheck {
 public:
  BlockCheck(const Architecture& arch, const MachineNeeds& needs, CheckOptions options);

  // A whole pass in one job, or single tiles that are sampled. Throws Difference.
  void run(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan, const Step& step,
           const std::string& what);
  std::uint64_t tiles_run() const { return tiles_run_; }

 private:
  struct Check;
  void run_part(const Check& check, const Rectangle& outputs);
  BlockAccelerator& machine(const ArrayFormats& formats) const;
  DrainStatisticsJob statistics_job(const Check& check, const Rectangle& outputs) const;
  // Of a batch norm, by the golden sums over the golden results.
  void compare_statistics(const Check& check, const BlockArrayJob& job,
                          const std::vector<ChannelStatistics>& actual, const std::string& place) const;

  Architecture arch_;
  CheckOptions options_;
  std::vector<std::unique_ptr<BlockAccelerator>> machines_;  // one per formats
  std::uint64_t tiles_run_ = 0;
};

}  // namespace mantissa::replay

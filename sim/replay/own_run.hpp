// A trace that was recorded in a run of this very recipe: what held then holds in the replay, and the results
// must be the run's own.
#pragma once

#include <span>

#include "sim/arch/architecture.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/gemm_pass.hpp"
#include "sim/report/replay_report.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

// nullptr where the trace does not say, or was recorded with a recipe of other content, whatever its name.
const trace::RunStep* own_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe);

// Compares results with recorded ones, where there are any and the run was on an array of this size.
class OwnResults {
 public:
  OwnResults(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch, RunBits& bits);

  // The results of a pass as the array gives them, [groups, m, n].
  void compare(std::uint32_t step, const trace::Layer& layer, const GemmPass& pass,
               const GemmPassResult& result) const;
  // In the order of the recorded tensor.
  void compare(std::uint32_t step, const trace::Layer& layer, Role role, std::span<const float> values) const;

 private:
  const trace::Trace& trace_;
  const Recipe& recipe_;
  bool same_array_;
  RunBits& bits_;
};

}  // namespace mantissa::replay

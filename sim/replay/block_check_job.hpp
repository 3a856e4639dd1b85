// A pass that BlockCheck runs, for its sources.
#pragma once

#include <string>
#include <vector>

#include "sim/arch/block_cycles.hpp"
#include "sim/replay/block_check.hpp"

namespace mantissa::replay {

// One pass, and what it must give.
struct BlockCheck::Check {
  const GemmPass& pass;
  const GemmPassResult& result;
  const LayerPlan& plan;
  const Step& step;
  const std::string& what;
  ArrayFormats formats;
  std::vector<std::uint32_t> codes;  // [groups, m, n]
  BlockCounts counts;
  std::vector<std::uint32_t> packed_rows;
  std::vector<float> bias;
};

}  // namespace mantissa::replay

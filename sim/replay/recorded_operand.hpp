// A recorded tensor on its way into the array: as it was recorded, and as the recipe holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/layer/layer_plan.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::replay {

struct RecordedOperand {
  // Takes the values over: prunes them, where the layer's errors are pruned, and encodes them.
  RecordedOperand(std::vector<float> recorded, const OperandSite& site, const Step& step, LayerPlan& plan);
  // `encoded` may look at `values` or `survivors`, which stay where they are when moved, and not when copied.
  RecordedOperand(const RecordedOperand&) = delete;
  RecordedOperand& operator=(const RecordedOperand&) = delete;
  RecordedOperand(RecordedOperand&&) noexcept = default;
  RecordedOperand& operator=(RecordedOperand&&) noexcept = default;
  ~RecordedOperand() = default;

  std::vector<float> values;     // the reference of every figure
  std::vector<float> survivors;  // of the pruner, where the values go through one
  EncodedTensor encoded;
  std::uint64_t draws = 0;   // of its quantizer and pruner
  std::uint64_t pruned = 0;  // elements that went through the pruner
  TensorReport report;       // lacks step, layer and class
};

}  // namespace mantissa::replay

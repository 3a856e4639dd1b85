// The update of a layer's weights as the second machine runs it, and what comes out (ARITHMETIC.md 11, "On
// the accelerator").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/tensor/encode.hpp"
#include "models/update/weight_update.hpp"
#include "sim/arch/stream_cycles.hpp"

namespace mantissa {

// The weight as the next step's operand, through a quantizer behind the unit.
struct UpdatedOperand {
  Encoding how;
  GemmlowpRange range = {};  // of integers
  DrawSource draws = {};
};

// One number per parameter in each.
struct UpdateJob {
  std::span<const std::uint32_t> gradient;  // codes of the format; the loss scale is in config.unscale
  Format gradient_format = formats::fp32;
  std::span<const std::uint16_t> weights;  // FP16
  std::span<const float> momentum;
  WeightUpdateConfig config = {};
  DrawSource draws = {};  // of config.rounding: element i takes draw i / lanes of lane i mod lanes
  bool skip = false;      // a gradient of the step is Inf or NaN
  std::optional<UpdatedOperand> operand = std::nullopt;  // none: the array takes the weights as they are
};

// Of PipeStages of weight_update.
constexpr int update_latency = 4;

// The job as the closed form sees it.
inline StreamJob update_stream(std::int64_t parameters, const ElementType& gradient,
                               const ElementType& master, std::optional<ElementType> operand, int lanes) {
  const int momentum = formats::fp32.bits();
  StreamJob job{.elements = parameters,
                .input_bits = {gradient.bits(), master.bits(), momentum},
                .output_bits = {master.bits(), momentum},
                .lanes = lanes,
                .latency = update_latency};
  if (operand) job.output_bits.push_back(operand->bits());
  return job;
}

struct UpdateRun {
  std::vector<std::uint16_t> weights;
  std::vector<float> momentum;
  std::vector<std::uint32_t> operand;
  GemmCycles cycles;
};

}  // namespace mantissa

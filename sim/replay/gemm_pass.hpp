// One pass of one layer on the modelled accelerator: what comes out, what it should have been, what it cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/mac/lowering.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/arch/block_job.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/replay/recorded_operand.hpp"

namespace mantissa::replay {

// The batch norm whose backward pass takes its sums at a drain: its x, and one number per channel.
struct DrainedNorm {
  std::optional<RecordedOperand> x = std::nullopt;
  std::vector<float> gamma = {};
  std::vector<float> mean = {};
  std::vector<float> inv = {};
};

struct GemmPass {
  ConvShape geometry;
  Pass pass = Pass::forward;
  const RecordedOperand* first = nullptr;   // what A is made of (lowering.hpp)
  const RecordedOperand* second = nullptr;  // what B is made of
  std::span<const float> bias = {};
  bool skip = false;
  // Of the second machine: what lies packed in memory, and what the drain does besides.
  bool packed = false;
  DrainStatistics statistics = DrainStatistics::none;
  int x_bits = 8;
  std::int64_t chunks = 1;            // of statistics of a forward pass
  std::int64_t parts = 1;             // of statistics
  const DrainedNorm* norm = nullptr;  // for statistics of a backward pass, where a machine runs
};

struct GemmPassResult {
  PassSides sides;                      // of one group
  std::vector<float> sums;              // [groups, m, n], bias added
  std::vector<double> reference;        // the same product in FP64 on the recorded numbers
  std::optional<TensorFormat> drained;  // how the results left; none: they stay FP32
  std::vector<float> values;            // the results as numbers
  int output_scale = 0;                 // a code stands for value * 2^output_scale
  int drain_scale = 0;                  // register of the drain quantizer
  ConversionCounts counts;              // of the drain
  std::uint64_t suppressed = 0;
  std::vector<std::vector<std::uint16_t>> nonzero;  // per group: of A, per row and window
  std::uint64_t a_nonzero = 0;
  std::uint64_t a_elements = 0;
  Accuracy accuracy;
  AccumulatorError accumulator;  // of the sums before bias and drain
};

// The golden kernels. Memory beyond the results is bounded: A or B is lowered part by
// part.
GemmPassResult run_gemm_pass(const GemmPass& pass, LayerPlan& plan, const Step& step,
                             const Architecture& arch);

// What the drain made of the sums, as machines give it: codes, or the FP32 patterns of results that stay
// FP32.
std::vector<std::uint32_t> output_codes(const GemmPass& pass, const GemmPassResult& result,
                                        const LayerPlan& plan, const Step& step);

// The bias in the scale of the sums, as the array gets it.
std::vector<float> scaled_bias(const GemmPass& pass);

// The array that multiplies such operands and drains so; FP32 operands need none.
ArrayFormats array_formats(const ElementType& a, const ElementType& b, const Accumulator& accumulator,
                           const std::optional<TensorFormat>& drain);
// Element widths in memory.
GemmShape shape_of(const GemmPass& pass, const GemmPassResult& result);

}  // namespace mantissa::replay

// One pass of one layer on the modelled accelerator: what comes out, what it should have been, what it cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/mac/accumulator.hpp"
#include "models/mac/lowering.hpp"
#include "models/mac/stream_id.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/operand.hpp"

namespace mantissa::replay {

struct GemmPass {
  ConvShape geometry;
  Pass pass = Pass::forward;
  const Operand* first = nullptr;   // what A is made of (lowering.hpp)
  const Operand* second = nullptr;  // what B is made of
  std::span<const float> bias = {};
  Accumulator accumulator = {};
  // How the results leave: none for results that stay FP32.
  std::optional<TensorFormat> output = std::nullopt;
  int loss_exponent = 0;  // of the results
  bool skip = false;
  std::uint64_t run_seed = 1;
  StreamId stream = {};  // unit and operand are set here
};

struct GemmPassResult {
  PassSides sides;                   // of one group
  std::vector<float> sums;           // [groups, m, n], bias added
  std::vector<double> reference;     // the same product in FP64 on the recorded numbers
  std::vector<std::uint32_t> codes;  // what the drain made of the sums; empty if they stay FP32
  std::vector<float> values;         // the results as numbers
  int output_scale = 0;              // a code stands for value * 2^output_scale
  int drain_scale = 0;               // register of the drain quantizer
  ConversionCounts counts;           // of the drain
  std::uint64_t suppressed = 0;
  std::vector<std::vector<std::uint16_t>> nonzero;  // per group: of A, per row and window
  std::uint64_t a_nonzero = 0;
  std::uint64_t a_elements = 0;
  GemmCycles cost;                 // all groups
  std::uint64_t dense_cycles = 0;  // with skipping off
  Accuracy accuracy;
};

// The golden kernels and the closed form. Memory beyond the results is bounded: A or B is lowered part by
// part.
GemmPassResult run_gemm_pass(const GemmPass& pass, const Architecture& arch, int threads);

// Where the pass's random numbers come from.
DrawSource draws_of(const GemmPass& pass, const Architecture& arch, RandomUnit unit);

// The bias in the scale of the sums, as the array gets it.
std::vector<float> scaled_bias(const GemmPass& pass);

// The array that the pass needs, for engines that simulate one; none for FP32.
std::optional<ArrayFormats> array_formats(const GemmPass& pass);
// Element widths in memory.
GemmShape shape_of(const GemmPass& pass, const PassSides& sides);

}  // namespace mantissa::replay

// A recorded tensor on its way into the array: pruned, scaled and quantized as the recipe says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/mac/int_gemm.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/random/stream.hpp"
#include "models/sparsity/pruner.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/recipe/scale_exponent.hpp"
#include "sim/replay/accuracy.hpp"

namespace mantissa::replay {

struct Operand {
  Arithmetic arithmetic = Arithmetic::fp32;
  std::vector<float> values;            // as recorded, the reference of every figure
  Format format = formats::fp32;        // floating
  int scale = 0;                        // floating: a code stands for value * 2^scale
  std::vector<std::uint8_t> codes;      // floating
  GemmlowpRange range;                  // gemmlowp
  std::vector<std::uint16_t> integers;  // gemmlowp
  std::uint64_t draws = 0;              // of its quantizer and pruner
  std::uint64_t pruned = 0;             // elements that went through the pruner
  TensorReport report;

  int bits() const;  // of an element in memory
  // gemmlowp: what stands for the zeros of padding, and integers of this operand as a matrix.
  std::uint16_t integer_zero() const;
  IntMatrix matrix(std::span<const std::uint16_t> q) const;
  std::string format_name() const;
};

struct OperandRule {
  Arithmetic arithmetic = Arithmetic::floating;
  TensorFormat how;
  int loss_exponent = 0;
  std::optional<Pruner> pruner = std::nullopt;
  DrawSource prune_draws = {};
  DrawSource draws = {};
};

// Takes the values over. `report` of the result lacks step, layer and class.
Operand prepare_operand(std::vector<float> values, const OperandRule& rule, int threads);

}  // namespace mantissa::replay

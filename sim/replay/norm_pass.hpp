// A batch norm's two passes: forward, and the gradient of its input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/norm/range_bn_tensor.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/operand.hpp"

namespace mantissa::replay {

struct NormLayer {
  NormShape shape;
  const Operand* x = nullptr;  // as the layer reads it
  std::span<const float> gamma;
  std::span<const float> beta;
  NormRule rule;
};

// One pass. Results of a recipe with codes leave through a quantizer like the array's.
struct NormPass {
  const NormLayer* layer = nullptr;
  NormDirection direction = NormDirection::forward;
  const Operand* g = nullptr;      // backward: the gradient of y
  DrawSource gradient_draws = {};  // of the 8-bit mode's quantizer of g
  std::optional<Conversion> drain = std::nullopt;
  DrawSource drain_draws = {};
};

// What one pass gives: y or dx in FP32, before the quantizer, and the same in FP64 on the recorded numbers.
struct NormResult {
  std::vector<float> values;
  std::vector<double> reference;
  std::vector<std::uint8_t> codes = {};  // behind the quantizer; empty: there is none
  // Of Range BN: what its forward pass saved, and of backward dgamma and dbeta.
  std::optional<RangeBnTensorSaved> saved = std::nullopt;
  std::optional<RangeBnTensorGradients> gradients = std::nullopt;
};

// Without codes.
NormResult norm_forward(const NormLayer& layer, int threads);
NormResult norm_backward(const NormLayer& layer, const Operand& g, const DrawSource& draws, int threads);

}  // namespace mantissa::replay

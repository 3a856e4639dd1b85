// A batch norm's two passes: forward, and the gradient of its input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/norm/range_bn_tensor.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/operand.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::replay {

struct NormLayer {
  NormShape shape;
  const Operand* x = nullptr;  // as the layer reads it
  std::span<const float> gamma;
  std::span<const float> beta;
  NormRule rule;
};

// What one pass gives: y or dx in FP32, before the quantizer, and the same in FP64 on the recorded numbers.
struct NormResult {
  std::vector<float> values;
  std::vector<double> reference;
};

// The operand's values after quantizing, which is what the layer computes with.
std::vector<float> quantized_values(const Operand& operand);

NormResult norm_forward(const NormLayer& layer, int threads);
// g is the gradient of y; `draws` is of the quantizer of Range BN's 8-bit mode.
NormResult norm_backward(const NormLayer& layer, const Operand& g, const DrawSource& draws, int threads);

}  // namespace mantissa::replay

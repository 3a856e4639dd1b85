// A batch norm's two passes: forward, and the gradient of its input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/norm/batch_norm.hpp"
#include "models/norm/range_bn_tensor.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/replay/recorded_operand.hpp"

namespace mantissa::replay {

struct NormLayer {
  NormShape shape;
  const RecordedOperand* x = nullptr;
  std::span<const float> gamma;
  std::span<const float> beta;
  NormRule rule;
  bool quantizes = false;  // the 8-bit mode of Range BN, which reads what no integer quantizer has touched
};

// What a batch norm is given of x or g.
std::span<const float> norm_values(const NormLayer& layer, const RecordedOperand& operand,
                                   std::vector<float>& storage, int threads);
// The same as it lies in memory: what the recipe keeps, or the 8-bit integers of the 8-bit mode
// (ARITHMETIC.md 8, "On the accelerator"), by the rounding and the draws of that mode's quantizer.
EncodedTensor norm_stream(const NormLayer& layer, const RecordedOperand& operand, Rounding rounding,
                          const DrawSource& draws, int threads);
// Of an element in memory.
int norm_bits(const NormLayer& layer, const RecordedOperand& operand);

// One pass. Results of a recipe with codes leave through a quantizer like the array's.
struct NormPass {
  const NormLayer* layer = nullptr;
  NormDirection direction = NormDirection::forward;
  const RecordedOperand* g = nullptr;  // backward: the gradient of y
  DrawSource gradient_draws = {};      // of the 8-bit mode's quantizer of g
  std::optional<Conversion> drain = std::nullopt;
  DrawSource drain_draws = {};
  // What is left of a fused norm is a stream, and a drain or a sweep has taken its statistics.
  bool fused = false;
  bool statistics_taken = false;
};

// What one pass gives: y or dx in FP32, before the quantizer, and the same in FP64 on the recorded numbers.
struct NormResult {
  std::vector<float> values;
  std::vector<double> reference;
  std::vector<std::uint8_t> codes = {};       // behind the quantizer; empty: there is none
  std::vector<BatchNormSaved> standard = {};  // of a standard norm: what its forward pass saved
  // Of Range BN: what its forward pass saved, and of backward dgamma and dbeta.
  std::optional<RangeBnTensorSaved> saved = std::nullopt;
  std::optional<RangeBnTensorGradients> gradients = std::nullopt;
};

// By the golden kernels; without codes.
NormResult norm_forward(const NormLayer& layer, int threads);
// After the forward pass, whose `saved` it needs.
NormResult norm_backward(const NormLayer& layer, const RecordedOperand& g, const NormResult& forward,
                         const DrawSource& draws, int threads);

}  // namespace mantissa::replay

// A batch norm in training, standard or Range BN as the recipe says (ARITHMETIC.md 8), with the running
// statistics that validation uses.
#pragma once

#include <span>
#include <vector>

#include "models/kernels/norm.hpp"
#include "sim/train/layer_recipe.hpp"
#include "sim/train/network.hpp"
#include "sim/train/quantized_tensor.hpp"

namespace mantissa::train {

// Averages over steps, by which validation normalises. `scale` is 1/inv: the deviation, or Range BN's s. Both
// are 0 before the first step.
struct RunningStatistics {
  std::vector<float> mean;
  std::vector<float> scale;
};

class NormLayer {
 public:
  // The recipe must outlive the layer.
  NormLayer(const Recipe& recipe, Node node, LayerRecipe layer);

  LayerRecipe& layer() { return layer_; }
  const LayerRecipe& layer() const { return layer_; }
  LayerCounts& counts() { return counts_; }
  const LayerCounts& counts() const { return counts_; }
  RunningStatistics& running() { return running_; }
  const RunningStatistics& running() const { return running_; }

  // x must stay where it is until the backward pass of the same step.
  void forward(const Step& step, const Tensor& x, std::span<const float> gamma, std::span<const float> beta,
               Tensor& y);

  struct Gradients {
    Tensor* x = nullptr;
    std::span<float> gamma;
    std::span<float> beta;
  };
  void backward(const Step& step, const Tensor& g, const Gradients& gradients);

 private:
  bool range() const { return recipe_->norm.kind == NormRule::Kind::range; }
  bool eight_bits() const { return range() && recipe_->norm.range.precision == NormPrecision::int8; }
  void validate(const Step& step, std::span<const float> gamma, std::span<const float> beta, Tensor& y);
  void average(std::span<const float> mean, std::span<const float> inv);
  void quantize(const Step& step, const Tensor& source, trace::Role role, const TensorFormat& how, Pass pass,
                ConversionCounts& counts, QuantizedTensor& result);
  void drain(const Step& step, Pass pass, trace::Role role, const TensorFormat& how, ConversionCounts& counts,
             Tensor& result);

  const Recipe* recipe_;
  Node node_;
  LayerRecipe layer_;
  LayerCounts counts_;
  RunningStatistics running_;
  NormShape shape_;
  QuantizedTensor x_;
  QuantizedTensor g_;
  std::span<const float> plain_;  // x as numbers
  std::vector<float> plain_storage_;
  std::vector<float> g_storage_;
  std::vector<float> gamma_;
  std::vector<BatchNormSaved> saved_;
  RangeBnTensorSaved range_saved_;
};

}  // namespace mantissa::train

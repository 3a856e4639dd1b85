// A convolution or a linear layer in training: its three GEMMs with the recipe's operands, accumulators and
// drains. The bits are those of a replay of the same tensors (sim/replay).
#pragma once

#include <span>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "sim/train/layer_recipe.hpp"
#include "sim/train/network.hpp"
#include "sim/train/quantized_tensor.hpp"

namespace mantissa::train {

// The node on a batch of images.
ConvShape conv_shape(const Node& node, std::int64_t batch);

class GemmLayer {
 public:
  // The recipe must outlive the layer. `layer` changes from step to step: its pruning threshold and its
  // errors' format are looked at when they are needed.
  GemmLayer(const Recipe& recipe, Node node, LayerRecipe layer);

  LayerRecipe& layer() { return layer_; }
  const LayerRecipe& layer() const { return layer_; }
  LayerCounts& counts() { return counts_; }
  const LayerCounts& counts() const { return counts_; }

  // x, weight and y must stay where they are until the backward pass of the same step.
  void forward(const Step& step, const Tensor& x, const Tensor& weight, std::span<const float> bias,
               Tensor& y);

  struct Gradients {
    Tensor* x = nullptr;  // not wanted where the layer reads the images
    std::span<float> weight;
    std::span<float> bias;  // empty: it has none
  };
  // g is the gradient of y as it arrives.
  void backward(const Step& step, const Tensor& g, const Gradients& gradients);

 private:
  // Which tensors a pass multiplies.
  struct Operands {
    const QuantizedTensor& first;
    const QuantizedTensor& second;
  };
  void multiply(const Step& step, Pass pass, const Operands& operands, std::span<float> sums);
  void multiply_codes(const Step& step, Pass pass, const Operands& operands, std::span<float> sums) const;
  void add_bias(std::span<const float> bias, int scale, std::span<float> sums) const;
  // One operand, through the quantizer of its class.
  void quantize(const Step& step, const Tensor& source, trace::Role role, const TensorFormat& how, Pass pass,
                Operand side, ConversionCounts& counts, QuantizedTensor& result);
  void drain(const Step& step, Pass pass, trace::Role role, const Operands& operands, const TensorFormat& how,
             ConversionCounts& counts, Tensor& result);
  // The error as it arrives, pruned.
  const Tensor& pruned(const Step& step, const Tensor& g);

  const Recipe* recipe_;
  Node node_;
  LayerRecipe layer_;
  LayerCounts counts_;
  ConvShape shape_;
  QuantizedTensor x_;
  QuantizedTensor weight_;
  QuantizedTensor g_;
  QuantizedTensor g_for_weights_;
  Tensor pruned_;
  Tensor weight_gradient_;
};

}  // namespace mantissa::train

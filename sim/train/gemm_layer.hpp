// A convolution or a linear layer in training: its three GEMMs with the recipe's operands, accumulators and
// drains. The bits are those of a replay of the same tensors (sim/replay).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/train/layer_counts.hpp"
#include "sim/train/network.hpp"
#include "sim/train/tensor.hpp"

namespace mantissa::train {

// The node on a batch of images.
ConvShape conv_shape(const Node& node, std::int64_t batch);

class GemmLayer {
 public:
  // The plan's registers change from step to step, and are looked at when they are needed.
  GemmLayer(Node node, LayerPlan plan) : node_(std::move(node)), plan_(std::move(plan)) {}

  LayerPlan& plan() { return plan_; }
  const LayerPlan& plan() const { return plan_; }
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
  // One operand, through the quantizer of its class.
  void encode(const Step& step, const OperandSite& site, const Tensor& source, ConversionCounts& counts,
              EncodedTensor& result);
  // first * second, in the layout of the tensor that the pass makes; then bias and drain.
  void run_pass(const Step& step, Pass pass, const EncodedTensor& first, const EncodedTensor& second,
                std::span<const float> bias, ConversionCounts& counts, Tensor& result);
  void drain(const Step& step, Pass pass, int from, ConversionCounts& counts, Tensor& result);
  // The error as it arrives, pruned.
  const Tensor& pruned(const Step& step, const Tensor& g);

  Node node_;
  LayerPlan plan_;
  LayerCounts counts_;
  ConvShape shape_;
  EncodedTensor x_;
  EncodedTensor weight_;
  EncodedTensor g_;
  EncodedTensor g_for_weights_;
  Tensor pruned_;
  Tensor weight_gradient_;
};

}  // namespace mantissa::train

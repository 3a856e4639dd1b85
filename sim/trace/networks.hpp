// Networks as lists of layers with their shapes, for traces that no training run has made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

// What a layer reads.
enum class InputValues : std::uint8_t {
  dense,   // of both signs: images, sums, normalised activations
  relu,    // not negative, many zeros
  pooled,  // an average over what a ReLU gave: positive
};

struct NetworkLayer {
  Layer layer;
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> weight;  // batch norm: empty
  std::vector<std::int64_t> output;
  bool bias = false;
  InputValues values = InputValues::dense;
  bool into_relu = false;  // so that its output gradient has the ReLU's zeros
};
using Network = std::vector<NetworkLayer>;

// ResNet-18 and ResNet-50 for ImageNet's 1000 classes (He et al. 2016; the stride of a bottleneck in its 3x3
// convolution, as everybody trains it), with torchvision's names. The first convolution computes no input
// gradient.
Network resnet18(std::int64_t batch, std::int64_t height, std::int64_t width);
Network resnet50(std::int64_t batch, std::int64_t height, std::int64_t width);

// Linear layers with biases and ReLUs between them: `widths` are those of the input and of every layer.
Network mlp(std::int64_t batch, const std::vector<std::int64_t>& widths);

// One transformer block: the projections q, k, v, o of its attention and the two linear layers of its MLP,
// four times as wide inside, with biases. The products of queries with keys and of scores with values have no
// weights and are no layers of a trace. A block stands inside a network, so all compute input gradients.
Network transformer_block(std::int64_t batch, std::int64_t tokens, std::int64_t width);

// Multiply-accumulates of that block's two products without weights.
double attention_macs(std::int64_t batch, std::int64_t tokens, std::int64_t width);

// Weights, biases, gammas and betas.
std::uint64_t parameter_count(const Network& network);

}  // namespace mantissa::trace

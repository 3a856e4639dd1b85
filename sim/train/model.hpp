// A network with its parameters under a recipe: forward and backward passes of one batch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"
#include "sim/train/gemm_layer.hpp"
#include "sim/train/network.hpp"
#include "sim/train/norm_layer.hpp"
#include "sim/train/parameters.hpp"

namespace mantissa::train {

// Told of every tensor of a layer with a unit of its own (conv, linear, norm) as it is made.
using Watcher = std::function<void(const Node& node, Role role, std::span<const float> values)>;

class Model {
 public:
  // Weights come from the seed. Throws std::invalid_argument for a recipe that cannot train.
  Model(Network network, Recipe recipe, std::uint64_t seed);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Network& network() const { return network_; }
  const Recipe& recipe() const { return recipe_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // In the network's order.
  std::vector<GemmLayer*> gemm_layers();
  std::vector<NormLayer*> norm_layers();
  std::vector<const GemmLayer*> gemm_layers() const;
  std::vector<const NormLayer*> norm_layers() const;
  GemmLayer* gemm_at(const Node& node);

  // The batch goes into image(), [batch, channels, height, width]; returns the classes' scores.
  Tensor& image() { return values_[0]; }
  std::span<const float> forward(const Step& step, const Watcher& watcher = {});
  // From the gradient of the scores to those of all parameters.
  void backward(const Step& step, std::span<const float> gradient, const Watcher& watcher = {});

  // The first tensor with an Inf or a NaN of the last forward pass: "layer, tensor".
  std::optional<std::string> first_nonfinite() const;

 private:
  struct NodeState {
    std::optional<GemmLayer> gemm;
    std::optional<NormLayer> norm;
    int first_parameter = -1;          // weight, bias; gamma, beta
    std::vector<std::int32_t> choice;  // of max pooling
  };
  void add_parameters(const Node& node, NodeState& state, std::uint16_t layer, std::uint64_t seed);
  Parameter& parameter(const NodeState& state, int which) {
    return parameters_[state.first_parameter + which];
  }
  void forward(const Step& step, const Node& node, NodeState& state, const Watcher& watcher);
  void backward(const Step& step, const Node& node, NodeState& state, const Watcher& watcher);
  // The gradient of a value has another contribution: takes it over, or adds it.
  void deliver(const Step& step, int value, Tensor& gradient);

  Network network_;
  Recipe recipe_;
  std::vector<NodeState> states_;
  std::vector<Parameter> parameters_;
  std::vector<Tensor> values_;
  std::vector<Tensor> gradients_;
  std::vector<bool> has_gradient_;
  Tensor scratch_;
};

// The layers of a trace of this network, in its order.
std::vector<trace::Layer> trace_layers(const Network& network);

}  // namespace mantissa::train

#include "sim/train/model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/train/pointwise.hpp"

namespace mantissa::train {
namespace {

bool multiplies(const Node& node) { return node.kind == NodeKind::conv || node.kind == NodeKind::linear; }
bool is_layer(const Node& node) { return multiplies(node) || node.kind == NodeKind::norm; }

void check_trainable(const Recipe& recipe) {
  recipe.check();
  if (recipe.sampling) {
    throw std::invalid_argument("recipe " + recipe.name +
                                " describes how a data set is sampled; no network is trained with it");
  }
}

LayerKind kind_of(const Node& node) {
  if (node.kind == NodeKind::norm) return LayerKind::batchnorm;
  return node.kind == NodeKind::conv ? LayerKind::conv2d : LayerKind::linear;
}

Parameter make_parameter(const Node& node, const char* role, std::uint16_t layer,
                         std::vector<std::int64_t> shape) {
  Parameter parameter;
  parameter.name = node.name + "." + role;
  parameter.layer = layer;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  parameter.shape = std::move(shape);
  parameter.value.values.resize(elements);
  parameter.momentum.resize(elements);
  parameter.gradient.resize(elements);
  return parameter;
}

// Of the nodes that have one.
template <class Pointer, class States, class Member>
std::vector<Pointer> layers_of(States& states, Member member) {
  std::vector<Pointer> layers;
  for (auto& state : states) {
    if (state.*member) layers.push_back(&*(state.*member));
  }
  return layers;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

std::vector<trace::Layer> trace_layers(const Network& network) {
  std::vector<trace::Layer> layers;
  for (const Node& node : network.nodes) {
    if (!is_layer(node)) continue;
    trace::Layer layer;
    layer.name = node.name;
    layer.input_gradient = node.input != 0;
    layer.kind = kind_of(node);
    if (node.kind == NodeKind::conv) {
      layer.stride = {node.stride, node.stride};
      layer.padding = {node.padding, node.padding};
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Model::Model(Network network, Recipe recipe, std::uint64_t seed)
    : network_(std::move(network)), recipe_(std::move(recipe)) {
  check_trainable(recipe_);
  states_.resize(network_.nodes.size());
  values_.resize(network_.value_count());
  gradients_.resize(network_.value_count());
  has_gradient_.resize(network_.value_count());
  std::vector<LayerName> names;
  for (const Node& node : network_.nodes) {
    if (is_layer(node)) names.push_back({node.name, kind_of(node)});
  }
  std::vector<LayerPlan> plans = plan_layers(recipe_, names);
  auto plan = plans.begin();
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    const Node& node = network_.nodes[i];
    if (!is_layer(node)) continue;
    add_parameters(node, states_[i], plan->index(), seed);
    if (multiplies(node)) {
      states_[i].gemm.emplace(node, std::move(*plan++));
    } else {
      states_[i].norm.emplace(node, std::move(*plan++));
    }
  }
}

void Model::add_parameters(const Node& node, NodeState& state, std::uint16_t layer, std::uint64_t seed) {
  state.first_parameter = static_cast<int>(parameters_.size());
  if (node.kind == NodeKind::norm) {
    parameters_.push_back(make_parameter(node, "gamma", layer, {node.in_shape.channels}));
    fill(parameters_.back(), 1);
    parameters_.push_back(make_parameter(node, "beta", layer, {node.in_shape.channels}));
    return;
  }
  const ConvShape shape = conv_shape(node, 1);
  std::vector<std::int64_t> sizes = {shape.out_channels, shape.in_channels};
  if (node.kind == NodeKind::conv) sizes.insert(sizes.end(), shape.kernel.begin(), shape.kernel.end());
  Parameter weight = make_parameter(node, "weight", layer, std::move(sizes));
  weight.master = true;
  initialise_weights(weight, shape.weights() / shape.out_channels, seed);
  make_master(weight, recipe_.master_weights);
  parameters_.push_back(std::move(weight));
  if (node.bias) parameters_.push_back(make_parameter(node, "bias", layer, {shape.out_channels}));
}

std::vector<GemmLayer*> Model::gemm_layers() { return layers_of<GemmLayer*>(states_, &NodeState::gemm); }
std::vector<NormLayer*> Model::norm_layers() { return layers_of<NormLayer*>(states_, &NodeState::norm); }
std::vector<const GemmLayer*> Model::gemm_layers() const {
  return layers_of<const GemmLayer*>(states_, &NodeState::gemm);
}
std::vector<const NormLayer*> Model::norm_layers() const {
  return layers_of<const NormLayer*>(states_, &NodeState::norm);
}

GemmLayer* Model::gemm_at(const Node& node) {
  NodeState& state = states_[&node - network_.nodes.data()];
  return state.gemm ? &*state.gemm : nullptr;
}

std::span<const float> Model::forward(const Step& step, const Watcher& watcher) {
  values_[0].grid.reset();
  for (std::size_t i = 0; i < network_.nodes.size(); ++i)
    forward(step, network_.nodes[i], states_[i], watcher);
  return values_.back().values;
}

void Model::forward(const Step& step, const Node& node, NodeState& state, const Watcher& watcher) {
  const Tensor& x = values_[node.input];
  Tensor& y = values_[&node - network_.nodes.data() + 1];
  const std::int64_t batch = static_cast<std::int64_t>(x.values.size()) / node.in_shape.elements();
  switch (node.kind) {
    case NodeKind::conv:
    case NodeKind::linear: {
      const Parameter& weight = parameter(state, 0);
      const std::span<const float> bias =
          node.bias ? std::span<const float>(parameter(state, 1).value.values) : std::span<const float>();
      state.gemm->forward(step, x, weight.value, bias, y);
      if (!watcher) return;
      watcher(node, Role::weight, weight.value.values);
      if (node.bias) watcher(node, Role::bias, bias);
      break;
    }
    case NodeKind::norm: {
      const std::vector<float>& gamma = parameter(state, 0).value.values;
      const std::vector<float>& beta = parameter(state, 1).value.values;
      state.norm->forward(step, x, gamma, beta, y);
      if (!watcher) return;
      watcher(node, Role::gamma, gamma);
      watcher(node, Role::beta, beta);
      break;
    }
    case NodeKind::relu:
      return relu_forward(x, y, step.threads);
    case NodeKind::add:
      return add(x, values_[node.other], y, step.threads);
    case NodeKind::max_pool:
      return max_pool_forward(node, batch, x, y, state.choice, step.threads);
    case NodeKind::average_pool:
      return average_pool_forward(node, batch, x, y, step.threads);
  }
  watcher(node, Role::input, x.values);
  watcher(node, Role::output, y.values);
}

void Model::backward(const Step& step, std::span<const float> gradient, const Watcher& watcher) {
  std::fill(has_gradient_.begin(), has_gradient_.end(), false);
  gradients_.back().values.assign(gradient.begin(), gradient.end());
  gradients_.back().grid.reset();
  has_gradient_.back() = true;
  for (std::size_t i = network_.nodes.size(); i-- > 0;)
    backward(step, network_.nodes[i], states_[i], watcher);
}

void Model::deliver(const Step& step, int value, Tensor& gradient) {
  if (has_gradient_[value]) {
    add(gradients_[value], gradient, gradients_[value], step.threads);
  } else {
    std::swap(gradients_[value], gradient);
    has_gradient_[value] = true;
  }
}

void Model::backward(const Step& step, const Node& node, NodeState& state, const Watcher& watcher) {
  Tensor& g = gradients_[&node - network_.nodes.data() + 1];
  const std::int64_t batch = static_cast<std::int64_t>(g.values.size()) / node.out_shape.elements();
  switch (node.kind) {
    case NodeKind::conv:
    case NodeKind::linear: {
      if (watcher) watcher(node, Role::grad_output, g.values);
      const bool wanted = node.input != 0;
      GemmLayer::Gradients gradients{
          .x = wanted ? &scratch_ : nullptr, .weight = parameter(state, 0).gradient, .bias = {}};
      if (node.bias) gradients.bias = parameter(state, 1).gradient;
      state.gemm->backward(step, g, gradients);
      if (watcher) watcher(node, Role::grad_weight, gradients.weight);
      if (!wanted) return;
      if (watcher) watcher(node, Role::grad_input, scratch_.values);
      break;
    }
    case NodeKind::norm:
      if (watcher) watcher(node, Role::grad_output, g.values);
      state.norm->backward(step, g, {&scratch_, parameter(state, 0).gradient, parameter(state, 1).gradient});
      if (watcher) watcher(node, Role::grad_input, scratch_.values);
      break;
    case NodeKind::relu:
      relu_backward(values_[&node - network_.nodes.data() + 1], g, step.threads);
      return deliver(step, node.input, g);
    case NodeKind::add:
      scratch_ = g;
      deliver(step, node.other, scratch_);
      return deliver(step, node.input, g);
    case NodeKind::max_pool:
      max_pool_backward(node, batch, g, state.choice, scratch_, step.threads);
      break;
    case NodeKind::average_pool:
      average_pool_backward(node, batch, g, scratch_, step.threads);
      break;
  }
  if (node.input != 0) deliver(step, node.input, scratch_);
}

std::optional<std::string> Model::first_nonfinite() const {
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    const Node& node = network_.nodes[i];
    const int first = states_[i].first_parameter;
    const int count = first < 0 ? 0 : node.kind == NodeKind::norm || node.bias ? 2 : 1;
    for (int which = 0; which < count; ++which) {
      if (!all_finite(parameters_[first + which].value.values)) return parameters_[first + which].name;
    }
    if (!all_finite(values_[i + 1].values)) return node.name + ".output";
  }
  return std::nullopt;
}

}  // namespace mantissa::train

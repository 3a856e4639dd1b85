#include "sim/train/network.hpp"

#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa::train {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw std::invalid_argument("node " + in_quotes(node.name) + ": " + what);
}

std::string text(const ValueShape& shape) {
  return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
         std::to_string(shape.width);
}

// Windows of `kernel` at a distance of `stride` along one side.
std::int64_t windows(const Node& node, std::int64_t side) {
  const std::int64_t padded = side + 2 * node.padding;
  if (padded < node.kernel) {
    fail(node, "a kernel of " + std::to_string(node.kernel) + " does not fit a side of " +
                   std::to_string(side) + " with padding " + std::to_string(node.padding));
  }
  return (padded - node.kernel) / node.stride + 1;
}

ValueShape output_of(const Network& network, const Node& node) {
  const ValueShape& in = node.in_shape;
  switch (node.kind) {
    case NodeKind::conv:
      return {node.out, windows(node, in.height), windows(node, in.width)};
    case NodeKind::linear:
      return {node.out, 1, 1};
    case NodeKind::max_pool:
      return {in.channels, windows(node, in.height), windows(node, in.width)};
    case NodeKind::average_pool:
      return {in.channels, 1, 1};
    case NodeKind::add:
      if (network.shape_of(node.other) != in) {
        fail(node, "adds " + text(in) + " and " + text(network.shape_of(node.other)) +
                       "; both must have the same shape");
      }
      return in;
    case NodeKind::norm:
    case NodeKind::relu:
      return in;
  }
  return in;
}

}  // namespace

std::string_view name_of(NodeKind kind) {
  constexpr std::array names = {"conv", "linear", "norm", "relu", "max-pool", "average-pool", "add"};
  return names.at(static_cast<std::size_t>(kind));
}

void connect(Network& network) {
  if (network.nodes.empty()) throw std::invalid_argument("layers: the network has no layers");
  std::vector<bool> used(network.value_count(), false);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    Node& node = network.nodes[i];
    used[node.input] = true;
    if (node.kind == NodeKind::add) used[node.other] = true;
    node.in_shape = network.shape_of(node.input);
    node.out_shape = output_of(network, node);
  }
  for (int value = 0; value + 1 < network.value_count(); ++value) {
    if (used[value]) continue;
    if (value == 0) throw std::invalid_argument("layers: nothing reads the image");
    fail(network.nodes[value - 1], "nothing reads its output");
  }
  const Node& last = network.nodes.back();
  if (last.kind != NodeKind::linear)
    fail(last, "the last layer must be linear: it gives the classes' scores");
}

}  // namespace mantissa::train

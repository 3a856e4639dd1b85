// A network as a list of nodes, each of which reads the output of an earlier one: what is trained. Arithmetic
// is the recipe's (sim/recipe); here are only kinds, sizes and connections.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::train {

enum class NodeKind : std::uint8_t { conv, linear, norm, relu, max_pool, average_pool, add };
std::string_view name_of(NodeKind kind);  // "conv", ..., "max-pool"

// One image's tensor.
struct ValueShape {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;

  std::int64_t spatial() const { return height * width; }
  std::int64_t elements() const { return channels * spatial(); }
  friend bool operator==(const ValueShape&, const ValueShape&) = default;
};

// Value 0 is the image, value i + 1 the output of node i.
struct Node {
  NodeKind kind = NodeKind::relu;
  std::string name;
  int input = 0;         // the value that it reads
  int other = 0;         // add: the second one
  std::int64_t out = 0;  // conv, linear: output channels
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = false;
  // Filled in by connect().
  ValueShape in_shape = {};
  ValueShape out_shape = {};
};

// How it is trained unless the command line says otherwise.
struct TrainingDefaults {
  double learning_rate = 0.1;  // the peak of the one-cycle schedule
  double momentum = 0.9;
  double weight_decay = 5e-4;
};

struct Network {
  std::string name;
  ValueShape image{1, 28, 28};
  std::vector<Node> nodes;
  TrainingDefaults training;

  ValueShape shape_of(int value) const { return value == 0 ? image : nodes[value - 1].out_shape; }
  int value_count() const { return static_cast<int>(nodes.size()) + 1; }
  std::int64_t classes() const { return nodes.back().out_shape.channels; }
};

// Works out all shapes, and checks that they fit and that every value is used. Throws std::invalid_argument
// that names the node.
void connect(Network& network);

}  // namespace mantissa::train

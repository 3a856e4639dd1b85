#include "sim/train/network_yaml.hpp"

#include <map>

#include "sim/support/layer_name.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/user_text.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa::train {
namespace {

// Keeps every tensor of a batch of thousands of images within memory that exists.
constexpr std::int64_t max_side = 4096;
constexpr std::int64_t max_channels = 65536;

// Names of values so far: the image is "image".
using Names = std::map<std::string, int>;

int value_named(YamlMap& map, const std::string& key, const Names& names, int missing) {
  if (!map.has(key)) return missing;
  std::string name;
  map.read(key, name);
  const auto found = names.find(name);
  if (found == names.end())
    map.refuse(key, key + ": there is no earlier layer " + in_quotes(name) + ", and it is not 'image'");
  return found->second;
}

Node read_node(YamlMap& map, const Names& names, int previous) {
  Node node;
  map.require("kind");
  map.read_word<NodeKind>("kind", node.kind,
                          {{"conv", NodeKind::conv},
                           {"linear", NodeKind::linear},
                           {"norm", NodeKind::norm},
                           {"relu", NodeKind::relu},
                           {"max-pool", NodeKind::max_pool},
                           {"average-pool", NodeKind::average_pool},
                           {"add", NodeKind::add}});
  node.name = std::string(name_of(node.kind)) + std::to_string(previous);
  map.read("name", node.name);
  if (const std::string problem = problem_of_name(node.name); !problem.empty()) {
    map.refuse("name", "name: the layer's name " + problem);
  }
  if (names.contains(node.name)) {
    map.refuse("name",
               "name: " + in_quotes(node.name) + " is already taken; every layer needs a name of its own");
  }
  node.input = value_named(map, "from", names, previous);
  if (node.kind == NodeKind::add) {
    map.require("with");
    node.other = value_named(map, "with", names, previous);
  }
  const bool multiplies = node.kind == NodeKind::conv || node.kind == NodeKind::linear;
  if (multiplies) {
    node.bias = node.kind == NodeKind::linear;
    map.require("out");
    map.read("out", node.out, {std::int64_t{1}, max_channels});
    map.read("bias", node.bias);
  }
  if (node.kind == NodeKind::conv || node.kind == NodeKind::max_pool) {
    map.require("kernel");
    map.read("kernel", node.kernel, {std::int64_t{1}, max_side});
    node.stride = node.kind == NodeKind::max_pool ? node.kernel : 1;
    map.read("stride", node.stride, {std::int64_t{1}, max_side});
  }
  if (node.kind == NodeKind::conv) {
    map.read("padding", node.padding, {std::int64_t{0}, max_side});
    if (node.padding >= node.kernel)
      map.refuse("padding", "padding: must be smaller than the kernel, " + std::to_string(node.kernel));
  }
  map.finish();
  return node;
}

void read_training(YamlMap& root, TrainingDefaults& training) {
  std::optional<YamlMap> map = root.map("training");
  if (!map) return;
  map->read("learning_rate", training.learning_rate, {0, 1000});
  map->read("momentum", training.momentum, {0, 1});
  map->read("weight_decay", training.weight_decay, {0, 1});
  map->finish();
}

}  // namespace

Network read_network(const YamlDocument& document) {
  YamlMap root(document, "network");
  Network network;
  root.require("name");
  root.require("layers");
  root.read("name", network.name);
  if (std::optional<YamlMap> image = root.map("image")) {
    image->read("channels", network.image.channels, {std::int64_t{1}, max_channels});
    image->read("height", network.image.height, {std::int64_t{1}, max_side});
    image->read("width", network.image.width, {std::int64_t{1}, max_side});
    image->finish();
  }
  read_training(root, network.training);
  Names names{{"image", 0}};
  for (YamlMap& map : root.list_of_maps("layers")) {
    const int previous = static_cast<int>(network.nodes.size());
    network.nodes.push_back(read_node(map, names, previous));
    names[network.nodes.back().name] = previous + 1;
  }
  root.finish();
  root.checked([&] { connect(network); });
  return network;
}

Network parse_network(std::string_view text, const std::string& file) {
  return read_network(YamlDocument(text, file));
}

Loaded<Network> load_network(const std::string& name_or_path) {
  const ConfigFile file = find_config(ConfigKind::network, name_or_path);
  return {parse_network(file.text, file.path.string()), sha256(file.text), file.origin};
}

}  // namespace mantissa::train

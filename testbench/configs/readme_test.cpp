// sim/configs/KEYS.md documents every key that the loaders know, and no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_text.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/support/config_file.hpp"
#include "sim/train/network_yaml.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

using Keys = std::set<std::string>;

// Keys in the first column of the table `| key |` under `## heading`: "| `weights.format` | ...". Several may
// share a row.
Keys documented(const std::string& heading) {
  std::istringstream page(contents(MANTISSA_SOURCE_DIR "/sim/configs/KEYS.md"));
  Keys keys;
  bool inside = false;
  bool in_table = false;
  const std::regex word("`([^`]+)`");
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## " + heading;
    if (line.rfind('|', 0) != 0) in_table = false;
    if (line.rfind("| key |", 0) == 0) in_table = inside;
    if (!in_table || line.rfind("| `", 0) != 0) continue;
    const std::string column = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(column.begin(), column.end(), word), end; at != end; ++at)
      keys.insert((*at)[1]);
  }
  return keys;
}

// The five classes of tensors have the same keys, documented once as TENSOR.
std::string with_tensor_class(const std::string& key) {
  static const std::regex tensor("^(weights|activations|errors|weight_gradients|errors_for_weights)\\.");
  return std::regex_replace(key, tensor, "TENSOR.");
}

template <typename Read>
Keys asked_by(ConfigKind kind, Read read) {
  Keys keys;
  for (const std::string& name : shipped_configs(kind)) {
    const YamlDocument document(find_config(kind, name).text, name);
    read(document);
    for (const std::string& key : document.keys_asked()) keys.insert(with_tensor_class(key));
  }
  return keys;
}

TEST(ConfigsReadme, Recipes) {
  Keys asked = asked_by(ConfigKind::recipe, read_recipe);
  // A section that no shipped recipe has.
  const YamlDocument floors(
      "name: x\narithmetic: fp32\nloss_scale: {kind: dynamic, exponent: 1, floors: [{step: 1, exponent: "
      "2}]}\n",
      "x");
  read_recipe(floors);
  asked.insert(floors.keys_asked().begin(), floors.keys_asked().end());
  EXPECT_EQ(documented("Recipes"), asked);
}

TEST(ConfigsReadme, Networks) {
  Keys asked = asked_by(ConfigKind::network, train::read_network);
  // A section that no shipped network has.
  const YamlDocument image(
      "name: x\nimage: {channels: 3, height: 2, width: 2}\nlayers: [{kind: linear, out: 10}]\n", "x");
  train::read_network(image);
  asked.insert(image.keys_asked().begin(), image.keys_asked().end());
  EXPECT_EQ(documented("Networks"), asked);
}

TEST(ConfigsReadme, Architectures) {
  EXPECT_EQ(documented("Architectures"), asked_by(ConfigKind::architecture, read_architecture));
}

// What a report shows of an architecture: all of its keys, and of a given mapping its sizes.
TEST(ConfigsReadme, AnArchitectureHasAValueForEveryKey) {
  Keys given;
  const std::vector<Setting> settings = {{"mapping", "given"},
                                         {"block_order", "m-outside"},
                                         {"m_block", "32"},
                                         {"n_block", "32"},
                                         {"k_block", "16"}};
  for (const Setting& each : load_architecture("edge", settings).keys) given.insert(each.key);
  EXPECT_EQ(given, documented("Architectures"));
  Keys found;
  for (const Setting& each : load_architecture("edge").keys)
    EXPECT_TRUE(found.insert(each.key).second) << each.key;
  for (const char* key : {"block_order", "m_block", "n_block", "k_block"}) found.insert(key);
  EXPECT_EQ(found, documented("Architectures"));
}

// The same of recipes, each with the keys that count for it.
TEST(ConfigsReadme, RecipesHaveAValueForEveryKey) {
  Keys found;
  const auto add = [&found](const Recipe& recipe) {
    for (const Setting& each : recipe_settings(recipe)) found.insert(with_tensor_class(each.key));
  };
  for (const std::string& name : shipped_configs(ConfigKind::recipe)) add(load_recipe(name).value);
  // What no shipped recipe has.
  Recipe recipe = load_recipe("lognormal-sparse").value;
  recipe.pruning->min_cosine = 0.5;
  recipe.loss_scale.kind = LossScaleRule::Kind::dynamic;
  recipe.loss_scale.dynamic.floors = {{1, 2}};
  recipe.errors_for_weights = recipe.errors;
  recipe.norm.parts = 2;
  recipe.accumulator = Accumulator::parse("chunk:4", formats::fp32, Rounding::rne());
  add(recipe);
  recipe.accumulator.inner = AlignedGroup{.group = 2, .bits = 8};
  add(recipe);
  Keys expected = documented("Recipes");
  // Sections, and what is within a list.
  for (const char* section : {"weights", "activations", "errors", "weight_gradients", "errors_for_weights",
                              "accumulator", "master_weights", "loss_scale", "norm", "pruning", "compression",
                              "sampling", "loss_scale.floors.step", "loss_scale.floors.exponent"})
    EXPECT_EQ(expected.erase(section), 1U) << section;
  EXPECT_EQ(found, expected);
}

TEST(ConfigsReadme, EnergyTables) {
  EXPECT_EQ(documented("Energy tables"), asked_by(ConfigKind::energy, read_energy_table));
}

}  // namespace
}  // namespace mantissa::test

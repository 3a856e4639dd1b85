#include "testbench/train/toy.hpp"

#include <random>

#include "sim/recipe/recipe_yaml.hpp"
#include "sim/train/network_yaml.hpp"

namespace mantissa::train::test {
namespace {

Images images(int count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Images result{8, 8, {}, {}};
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(engine() % FashionMnist::classes);
    result.labels.push_back(static_cast<std::uint8_t>(label));
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 8; ++col) {
        // Classes 0..4 are rows, 5..9 columns.
        const bool bright = label < 5 ? row == label + 1 : col == label - 4;
        result.pixels.push_back(static_cast<std::uint8_t>(engine() % 90 + (bright ? 160 : 0)));
      }
    }
  }
  return result;
}

}  // namespace

FashionMnist toy_data(int training, int validation) { return {images(training, 1), images(validation, 2)}; }

Network toy_network() {
  return parse_network(R"(
name: toy
image: {channels: 1, height: 8, width: 8}
training: {learning_rate: 0.1, momentum: 0.9, weight_decay: 0.0005}
layers:
  - {kind: conv, name: first, out: 4, kernel: 3, padding: 1}
  - {kind: norm, name: norm1}
  - {kind: relu, name: stem}
  - {kind: conv, name: second, out: 6, kernel: 3, stride: 2, padding: 1}
  - {kind: norm, name: norm2}
  - {kind: conv, name: shortcut, from: stem, out: 6, kernel: 1, stride: 2}
  - {kind: norm, name: norm3}
  - {kind: add, with: norm2}
  - {kind: relu}
  - {kind: max-pool, kernel: 2}
  - {kind: linear, name: hidden, out: 12}
  - {kind: relu}
  - {kind: linear, name: last, out: 10}
)",
                       "toy.yaml");
}

RunOptions toy_options(int epochs) {
  RunOptions options;
  options.epochs = epochs;
  options.batch = 16;
  options.rows = 4;
  options.cols = 4;
  options.training = toy_network().training;
  return options;
}

Recipe toy_recipe(const std::string& name) {
  Recipe recipe = load_recipe(name).value;
  if (recipe.pruning) recipe.pruning->refresh_steps = 3;
  return recipe;
}

}  // namespace mantissa::train::test

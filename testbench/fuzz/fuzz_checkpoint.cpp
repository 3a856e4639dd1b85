// A checkpoint with changes: refused with std::invalid_argument in one line, or what is restored is a state
// of the run that can be written and read again. Without a digest that fits, every change is refused.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/recipe/recipe_yaml.hpp"
#include "sim/support/data_directory.hpp"
#include "sim/support/json_text.hpp"
#include "sim/train/checkpoint.hpp"
#include "sim/train/checkpoint_seal.hpp"
#include "sim/train/checkpoint_state.hpp"
#include "sim/train/network_yaml.hpp"

// No shipped file is looked for here.
std::filesystem::path mantissa::data_directory() { return {}; }

namespace {

using namespace mantissa;         // NOLINT: this file has no other subject
using namespace mantissa::train;  // NOLINT

constexpr const char* network = R"(
name: n
image: {channels: 1, height: 2, width: 2}
training: {learning_rate: 0.1, momentum: 0.9, weight_decay: 0.0005}
layers:
  - {kind: conv, name: a, out: 1, kernel: 1}
  - {kind: norm, name: b}
  - {kind: linear, name: c, out: 2}
)";
constexpr const char* pruned = R"(
name: r
arithmetic: floating
weights: {format: e4m3, scale: max}
activations: {format: e4m3, scale: max}
errors: {format: e5m2, rounding: "sr:16", scale: centre}
loss_scale: {kind: dynamic, exponent: 13, growth_interval: 4}
pruning: {sparsity: 0.85, choose_format: true, feedback: true}
)";
constexpr const char* plain = R"(
name: r
arithmetic: floating
weights: {format: e5m2}
activations: {format: e5m2}
errors: {format: e5m2}
loss_scale: {kind: constant, exponent: 3}
)";
constexpr const char* state_key = "mantissa.checkpoint";
constexpr RunLength length{.images = 5, .batch = 2, .steps_per_epoch = 3, .steps = 9};

// What a reader of a valid checkpoint relies on.
void require(bool condition) {
  if (!condition) __builtin_trap();
}

trace::Safetensors open(const std::string& bytes) { return {std::as_bytes(std::span(bytes)), "fuzz"}; }

// The same tensors with another state, and a digest that fits.
std::string sealed(const trace::Safetensors& file, const std::string& state) {
  std::map<std::string, std::string> metadata = file.metadata();
  metadata[state_key] = state;
  const auto source = [&](const trace::TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
    file.values(*file.find(tensor.name), first, values);
  };
  metadata[std::string(digest_key)] = seal_of(file.tensors(), metadata, source);
  std::string bytes = trace::safetensors_header(file.tensors(), metadata);
  for (const trace::TensorInfo& tensor : file.tensors()) {
    const std::vector<float> values = file.values(tensor);
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return bytes;
}

// Where one has a place in it.
void put_digest(std::string& bytes) {
  try {
    const trace::Safetensors file = open(bytes);
    const std::string digest = seal_of(file);
    const std::string before = '"' + std::string(digest_key) + "\":\"";
    if (!digest.empty()) bytes.replace(bytes.find(before) + before.size(), digest.size(), digest);
  } catch (const std::invalid_argument&) {
    // It is refused before anybody looks for a digest.
  }
}

class Run {
 public:
  // After the fourth step of nine.
  explicit Run(const char* recipe)
      : model_(parse_network(network, "fuzz.yaml"), parse_recipe(recipe, "fuzz.yaml"), 1) {
    RunState state;
    state.step = 4;
    state.counted_steps = 1;
    state.history.resize(1);
    state.history[0].steps = 3;
    state.epoch.steps = 1;
    std::optional<LossScale> scale = loss_scale();
    if (scale) {
      scale->restore(12, 4, 1);
      state.loss_scale = {{0, 13}, {3, 12}};
      for (GemmLayer* layer : model_.gemm_layers()) layer->plan().registers.tau = 0.25;
    }
    state.epoch.loss_exponent = state.history[0].loss_exponent = scale ? 12 : 3;
    char name[] = "/tmp/mantissa-fuzz-XXXXXX";
    require(::mkdtemp(name) != nullptr);
    const std::filesystem::path path = std::filesystem::path(name) / "c";
    save_checkpoint(path, model_, options_, state, scale);
    std::ifstream in(path, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove_all(name);
    require(load(good_));
  }

  // The state with other values at some places: a line each, of a pointer and a value.
  void edit(const std::string& lines) {
    const trace::Safetensors file = open(good_);
    Json json = Json::parse(file.metadata().at(state_key));
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      const std::size_t space = std::min(line.find(' '), line.size());
      try {
        json.at(Json::json_pointer(line.substr(0, space))) = Json::parse(line.substr(space));
      } catch (const Json::exception&) {
        return;  // no place, or no value
      }
    }
    load(sealed(file, json_text(json, -1)));
  }

  // Any text for the state.
  void replace(const std::string& text) { load(sealed(open(good_), text)); }

  // Other bytes anywhere: two for where, one for what.
  void overwrite(std::span<const std::uint8_t> edits, bool seal) {
    std::string bytes = good_;
    for (std::size_t i = 0; i + 2 < edits.size(); i += 3) {
      const std::size_t place = static_cast<std::size_t>(edits[i]) << 8U | edits[i + 1];
      bytes[place % bytes.size()] = static_cast<char>(edits[i + 2]);
    }
    if (seal) {
      put_digest(bytes);
      load(bytes);
    } else {
      require(load(bytes) == (bytes == good_));
    }
  }

 private:
  std::optional<LossScale> loss_scale() const {
    const LossScaleRule& rule = model_.recipe().loss_scale;
    if (rule.kind != LossScaleRule::Kind::dynamic) return std::nullopt;
    return LossScale(rule.dynamic);
  }

  // True: accepted.
  bool load(const std::string& bytes) {
    RunState state;
    std::optional<LossScale> scale = loss_scale();
    try {
      load_checkpoint(open(bytes), length, model_, options_, state, scale);
    } catch (const std::invalid_argument& error) {
      for (const char c : std::string_view(error.what())) require(c != '\n' && c != '\x1b' && c != '\0');
      return false;
    }
    require(state.step > 0 && state.step <= length.steps);
    require(static_cast<std::int64_t>(state.history.size()) == state.step / length.steps_per_epoch);
    require(state.epoch.steps == state.step % length.steps_per_epoch);
    for (const Parameter& parameter : model_.parameters())
      require(parameter.value.values.size() == parameter.momentum.size());
    for (const GemmLayer* layer : std::as_const(model_).gemm_layers()) {
      const LayerRegisters& registers = layer->plan().registers;
      require(!registers.tau || (*registers.tau >= 0 && std::isfinite(*registers.tau)));
      require(!registers.error_format || registers.error_format->bits() <= 8);
    }
    // Written again it is the same state.
    const trace::Safetensors file = open(bytes);
    Json json = Json::parse(file.metadata().at(state_key));
    json["state"] = state_json(model_, state, scale);
    const std::string again = sealed(file, json_text(json, -1));
    load_checkpoint(open(again), length, model_, options_, state, scale);
    require(state_json(model_, state, scale) == json["state"]);
    return true;
  }

  Model model_;
  RunOptions options_;
  std::string good_;
};

}  // namespace

// The name and signature are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Run runs[] = {Run(plain), Run(pruned)};
  if (size == 0) return 0;
  // The first byte: which run, and what the rest is.
  Run& run = runs[data[0] & 1];
  const std::string text(data + 1, data + size);
  switch (data[0] >> 1 & 3) {
    case 0:
      run.edit(text);
      break;
    case 1:
      run.replace(text);
      break;
    case 2:
      run.overwrite({data + 1, size - 1}, true);
      break;
    default:
      run.overwrite({data + 1, size - 1}, false);
  }
  return 0;
}

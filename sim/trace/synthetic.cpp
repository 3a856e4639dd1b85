#include "sim/trace/synthetic.hpp"

#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "models/parallel/parallel.hpp"
#include "models/random/normal.hpp"
#include "models/random/stream.hpp"
#include "sim/trace/capture_record.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/layer_records.hpp"
#include "sim/trace/safetensors_writer.hpp"

namespace mantissa::trace {
namespace {

// Random numbers by index. The standard library's distributions are not the same everywhere; these are, but
// for the last place of a double that log and exp may differ in, which FP32 hides.
class Draws {
 public:
  Draws(std::uint64_t seed, const std::string& tensor) : key_(mix(mix(seed) ^ hash(tensor))) {}

  std::uint64_t word(std::uint64_t index) const { return mix(key_ ^ index); }

 private:
  static std::uint64_t hash(const std::string& text) {  // FNV-1a
    std::uint64_t value = 0xCBF29CE484222325U;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return value;
  }
  std::uint64_t key_;
};

// Between 0 and 1, neither of them; the lowest bits of the word have no part in it.
double uniform(std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

// How one tensor's elements are made from words.
struct Recipe {
  enum class Kind : std::uint8_t { normal, half_normal, lognormal } kind = Kind::normal;
  double centre = 0;  // mean, or mu
  double spread = 1;  // deviation, or sigma
  double zeros = 0;   // share

  float element(std::uint64_t word) const {
    const double u = uniform(word);
    if (kind == Kind::normal) return static_cast<float>(centre + spread * normal_quantile(u));
    if (u <= zeros) return 0;
    // The rest of the interval is uniform again.
    const double z = normal_quantile((u - zeros) / (1 - zeros));
    if (kind == Kind::half_normal) return static_cast<float>(spread * std::fabs(z));
    const auto magnitude = static_cast<float>(std::exp(centre + spread * z));
    return (word & 1) != 0 ? -magnitude : magnitude;
  }
};

double forward_macs(const Network& network) {
  double macs = 0;
  for (const NetworkLayer& each : network) {
    if (multiplies(each.layer.kind))
      macs += macs_of(geometry_of(each.layer, each.input, each.weight), Pass::forward);
  }
  return macs;
}

Recipe input_recipe(const NetworkLayer& layer, const SyntheticNumbers& numbers) {
  switch (layer.values) {
    case InputValues::relu:
      return {.kind = Recipe::Kind::half_normal, .zeros = numbers.sparsity};
    case InputValues::pooled:
      return {.kind = Recipe::Kind::half_normal};
    case InputValues::dense:
      return {};
  }
  throw std::invalid_argument("a kind of values without a distribution");
}

Recipe gradient_recipe(const NetworkLayer& layer, const SyntheticNumbers& numbers) {
  const double zeros = numbers.gradient_sparsity.value_or(layer.into_relu ? numbers.sparsity : 0);
  const double mu = numbers.mu.value_or(usual_mu(layer));
  return {.kind = Recipe::Kind::lognormal, .centre = mu, .spread = numbers.sigma, .zeros = zeros};
}

struct Plan {
  std::vector<TensorInfo> tensors;
  std::map<std::string, Recipe> recipes;
  std::vector<Layer> layers;
};

Plan plan(const Network& network, const SyntheticNumbers& numbers, DType dtype) {
  Plan result;
  for (const NetworkLayer& layer : network) {
    const auto add = [&](Role role, std::vector<std::int64_t> shape, const Recipe& recipe) {
      TensorInfo tensor;
      tensor.name = tensor_name(0, layer.layer.name, role);
      tensor.dtype = dtype;
      tensor.shape = std::move(shape);
      result.recipes.emplace(tensor.name, recipe);
      result.tensors.push_back(std::move(tensor));
    };
    add(Role::input, layer.input, input_recipe(layer, numbers));
    if (layer.layer.kind == LayerKind::batchnorm) {
      add(Role::gamma, {layer.input[1]}, {.centre = 1, .spread = 0.1});
      add(Role::beta, {layer.input[1]}, {.spread = 0.1});
    } else {
      double inputs = 1;
      for (std::size_t i = 1; i < layer.weight.size(); ++i) inputs *= static_cast<double>(layer.weight[i]);
      add(Role::weight, layer.weight, {.spread = std::sqrt(2 / inputs)});
      if (layer.bias) add(Role::bias, {layer.weight[0]}, {.spread = std::sqrt(1 / inputs)});
    }
    add(Role::grad_output, layer.output, gradient_recipe(layer, numbers));
    result.layers.push_back(layer.layer);
  }
  return result;
}

}  // namespace

double usual_mu(const NetworkLayer& layer) {
  constexpr double of_one_place = -9;
  const std::vector<std::int64_t>& shape = layer.output;
  // Images or sequences come first; channels second, or last in a linear layer.
  double places = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) places *= static_cast<double>(shape[i]);
  places /= static_cast<double>(layer.layer.kind == LayerKind::linear ? shape.back() : shape[1]);
  return of_one_place - std::log(static_cast<double>(shape[0])) - std::log(places) / 2;
}

void check(const SyntheticNumbers& numbers) {
  const auto share = [](const char* what, double value) {
    if (value >= 0 && value < 1) return;
    throw std::invalid_argument(std::string(what) + " " + std::to_string(value) +
                                " is out of range; it must be at least 0 and below 1");
  };
  share("sparsity", numbers.sparsity);
  share("gradient sparsity", numbers.gradient_sparsity.value_or(0));
  // A draw is at most 8.3 deviations away; FP32 ends at e^88.
  if (numbers.mu && !(*numbers.mu >= -60 && *numbers.mu <= 20)) {
    throw std::invalid_argument("mu " + std::to_string(*numbers.mu) +
                                " of ln|g| is out of range; it must be -60..20");
  }
  if (!(numbers.sigma >= 0 && numbers.sigma <= 8)) {
    throw std::invalid_argument("sigma " + std::to_string(numbers.sigma) +
                                " of ln|g| is out of range; it must be 0..8");
  }
}

SyntheticSummary write_synthetic(const SyntheticJob& job) {
  check(job.numbers);
  const Plan made = plan(job.network, job.numbers, job.dtype);
  std::map<std::string, std::string> metadata{{std::string(layers_key), layers_json(made.layers)}};
  if (!job.origin.empty()) metadata.emplace(origin_key, job.origin);
  if (job.beyond) {
    const Capture capture{.executed_macs = forward_macs(job.network) + job.beyond->macs,
                          .notes = job.beyond->notes};
    metadata.emplace(capture_key, capture_json(capture));
  }
  SyntheticSummary summary{made.tensors.size(), 0};
  for (const TensorInfo& tensor : made.tensors) summary.elements += tensor.elements();
  std::uint64_t done = 0;
  const auto fill = [&](const TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
    if (job.progress) job.progress(done, summary.elements, tensor.name);
    const Recipe& recipe = made.recipes.at(tensor.name);
    const Draws draws(job.numbers.seed, tensor.name);
    const auto make = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[i] = recipe.element(draws.word(first + i));
    };
    constexpr std::int64_t grain = 1 << 15;
    parallel_ranges(static_cast<std::int64_t>(values.size()), grain, job.threads, make);
    done += values.size();
  };
  write_safetensors(job.path, made.tensors, metadata, fill);
  return summary;
}

}  // namespace mantissa::trace

#include "sim/recipe/recipe_yaml.hpp"

#include <algorithm>
#include <limits>

#include "models/mac/accumulator_preset.hpp"
#include "models/random/lfsr.hpp"
#include "sim/recipe/recipe_words.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa {
namespace {

constexpr std::int64_t max_steps = std::int64_t{1} << 40;
// Into which a channel is cut.
constexpr std::int64_t max_stretches = std::int64_t{1} << 20;
// The largest double below 1: shares of elements stop short of all of them.
constexpr double below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
// What the golden model can sample (ARITHMETIC.md 9).
constexpr double smallest_share = 1e-12;

Rounding rounding_of(const std::string& text) { return Rounding::parse(text); }
Format format_of(const std::string& text) { return Format::parse(text); }
// 32 bits: the sums stay FP32.
ElementType integers_of(int bits) { return bits == 32 ? ElementType() : ElementType::integer(bits); }

void read_tensor(YamlMap& root, const std::string& key, Arithmetic arithmetic, TensorFormat& tensor) {
  std::optional<YamlMap> map = root.map(key);
  if (!map) return;
  if (arithmetic == Arithmetic::gemmlowp) {
    int bits = tensor.type.bits();
    map->read("bits", bits, {1, 32});
    tensor.type = integers_of(bits);
    map->read("exact_zero", tensor.exact_zero);
  } else {
    map->read_with("format", tensor.type, format_of);
    map->read_with("overflow", tensor.overflow, [](const std::string& text) { return parse_overflow(text); });
    map->read_one_of("via", tensor.via_fp16, via_words);
    map->read_one_of("scale", tensor.scale, scale_words);
    map->read("scale_exponent", tensor.scale_exponent, {-128, 127});
    if (tensor.scale != TensorFormat::Scale::fixed && map->has("scale_exponent"))
      map->refuse("scale_exponent", "scale_exponent belongs to scale: fixed");
  }
  map->read_with("rounding", tensor.rounding, rounding_of);
  map->finish();
}

Accumulator read_accumulator(YamlMap& root) {
  Accumulator result;
  if (root.has_word("accumulator")) {
    root.read_with("accumulator", result,
                   [](const std::string& text) { return accumulator_preset(text).accumulator; });
    return result;
  }
  std::optional<YamlMap> map = root.map("accumulator");
  if (!map) return result;
  map->read_with("format", result.format, format_of);
  map->read_with("rounding", result.rounding, rounding_of);
  map->read_with("kind", result, [&](const std::string& text) {
    return Accumulator::parse(text, result.format, result.rounding);
  });
  for (const char* key : {"inner", "inner_format", "inner_rounding", "order"}) {
    if (map->has(key) && result.kind != Accumulator::Kind::chunk)
      map->refuse(key, "inner, inner_format, inner_rounding and order belong to kind: chunk:G");
  }
  map->read_with("inner", result.inner,
                 [](const std::string& text) { return Accumulator::parse_inner(text); });
  map->read_with("inner_format", result.inner_format, format_of);
  if (result.inner && map->has("inner_rounding")) {
    map->refuse("inner_rounding",
                "an aligned inner accumulator has no inner_rounding; write inner: aligned:G,b,rne");
  }
  map->read_with("inner_rounding", result.inner_rounding, rounding_of);
  map->read_with("order", result.order, [](const std::string& text) { return parse_order(text); });
  if (result.order != Accumulator::Order::ascending && !result.inner)
    map->refuse("order", "order belongs to an aligned inner accumulator");
  map->finish();
  return result;
}

void read_master_weights(YamlMap& root, MasterWeights& master) {
  std::optional<YamlMap> map = root.map("master_weights");
  if (!map) return;
  map->read_with("format", master.format, format_of);
  map->read_with("rounding", master.rounding, rounding_of);
  map->finish();
}

void read_loss_scale(YamlMap& root, LossScaleRule& rule) {
  std::optional<YamlMap> map = root.map("loss_scale");
  if (!map) return;
  const Limits<int> exponents{LossScale::min_exponent, LossScale::max_exponent};
  map->read_one_of("kind", rule.kind, loss_scale_words);
  if (rule.kind != LossScaleRule::Kind::none) {
    map->require("exponent");
    map->read("exponent", rule.exponent, exponents);
  }
  if (rule.kind == LossScaleRule::Kind::dynamic) {
    rule.dynamic.initial_exponent = rule.exponent;
    map->read("growth_interval", rule.dynamic.growth_interval, {std::int64_t{1}, max_steps});
    for (YamlMap& entry : map->list_of_maps("floors")) {
      LossScaleFloor floor;
      entry.require("step");
      entry.require("exponent");
      entry.read("step", floor.step, {std::int64_t{0}, max_steps});
      entry.read("exponent", floor.exponent, exponents);
      entry.finish();
      rule.dynamic.floors.push_back(floor);
    }
  }
  map->finish();
}

void read_norm(YamlMap& root, NormRule& rule) {
  std::optional<YamlMap> map = root.map("norm");
  if (!map) return;
  map->read_one_of("kind", rule.kind, norm_words);
  map->read("parts", rule.parts, {std::int64_t{1}, max_stretches});
  if (rule.kind == NormRule::Kind::range) {
    map->read_one_of("precision", rule.range.precision, precision_words);
    map->read_with("constant", rule.range.channel.constant,
                   [](const std::string& text) { return parse_range_constant(text); });
    map->read("chunks", rule.range.channel.chunks, {std::int64_t{1}, max_stretches});
    map->read_with("gradient_rounding", rule.range.gradient_rounding, rounding_of);
  }
  map->finish();
}

std::optional<PruningRule> read_pruning(YamlMap& root) {
  std::optional<YamlMap> map = root.map("pruning");
  if (!map) return std::nullopt;
  PruningRule rule;
  map->read("sparsity", rule.sparsity, {0, below_one});
  rule.max_sparsity = std::max(rule.max_sparsity, rule.sparsity);
  map->read("max_sparsity", rule.max_sparsity, {0, below_one});
  map->read("random_bits", rule.random_bits, {1, Lfsr::default_leap});
  if (map->has("min_cosine")) {
    rule.min_cosine = below_one;
    map->read("min_cosine", *rule.min_cosine, {0, below_one});
  }
  map->read("refresh_steps", rule.refresh_steps, {std::int64_t{1}, max_steps});
  map->read("choose_format", rule.choose_format);
  map->read("feedback", rule.feedback);
  map->read_one_of("threshold", rule.threshold, threshold_words);
  map->finish();
  return rule;
}

std::optional<double> read_clip_norm(YamlMap& root) {
  if (!root.has("clip_norm")) return std::nullopt;
  double norm = 0;
  root.read("clip_norm", norm, {0, largest_clip_norm});
  return norm;
}

std::optional<CompressionRule> read_compression(YamlMap& root) {
  std::optional<YamlMap> map = root.map("compression");
  if (!map) return std::nullopt;
  CompressionRule rule;
  map->read("sparsity", rule.sparsity, {0, below_one});
  map->read("momentum", rule.momentum, {0, below_one});
  map->read("warm_up", rule.warm_up, {0, below_one});
  map->read("sample", rule.sample, {smallest_share, 1});
  map->read("factor_masking", rule.factor_masking);
  map->finish();
  return rule;
}

std::optional<SamplingRule> read_sampling(YamlMap& root) {
  std::optional<YamlMap> map = root.map("sampling");
  if (!map) return std::nullopt;
  SamplingRule rule;
  map->read("levels", rule.levels, {1, 255});
  map->read("random_bits", rule.random_bits, {1, Lfsr::default_leap});
  map->finish();
  return rule;
}

}  // namespace

Recipe read_recipe(const YamlDocument& document) {
  Recipe recipe;
  YamlMap root(document, "recipe");
  root.require("name");
  root.require("arithmetic");
  root.read("name", recipe.name);
  root.read("source", recipe.source);
  root.read_one_of("arithmetic", recipe.arithmetic, arithmetic_words);
  if (recipe.arithmetic != Arithmetic::fp32) {
    for (const char* key : {"weights", "activations", "errors"}) root.require(key);
  }
  if (recipe.arithmetic == Arithmetic::gemmlowp) {
    for (TensorFormat* operand : {&recipe.weights, &recipe.activations, &recipe.errors})
      operand->type = ElementType::integer(8);
    if (root.has("accumulator"))
      root.refuse("accumulator", "accumulator: gemmlowp sums exactly in 48 bits; leave this section out");
  }
  read_tensor(root, "weights", recipe.arithmetic, recipe.weights);
  read_tensor(root, "activations", recipe.arithmetic, recipe.activations);
  read_tensor(root, "errors", recipe.arithmetic, recipe.errors);
  read_tensor(root, "weight_gradients", recipe.arithmetic, recipe.weight_gradients);
  if (root.has("errors_for_weights")) {
    recipe.errors_for_weights.emplace();
    if (recipe.errors.type.is_integer()) recipe.errors_for_weights->type = ElementType::integer(8);
    read_tensor(root, "errors_for_weights", recipe.arithmetic, *recipe.errors_for_weights);
  }
  recipe.accumulator = read_accumulator(root);
  read_master_weights(root, recipe.master_weights);
  read_loss_scale(root, recipe.loss_scale);
  read_norm(root, recipe.norm);
  root.read("exempt_first", recipe.exempt_first);
  root.read("exempt_last", recipe.exempt_last);
  recipe.pruning = read_pruning(root);
  recipe.clip_norm = read_clip_norm(root);
  recipe.compression = read_compression(root);
  recipe.sampling = read_sampling(root);
  root.finish();
  root.checked([&] { recipe.check(); });
  return recipe;
}

Recipe parse_recipe(std::string_view text, const std::string& file) {
  return read_recipe(YamlDocument(text, file));
}

Loaded<Recipe> load_recipe(const std::string& name_or_path, const std::vector<Setting>& settings) {
  const ConfigFile file = find_config(ConfigKind::recipe, name_or_path);
  YamlDocument document(file.text, file.path.string());
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  return {read_recipe(document), sha256(file.text), file.origin};
}

std::vector<std::string> recipe_keys() {
  const YamlDocument document("name: none\narithmetic: fp32\n", "");
  read_recipe(document);
  return document.top_keys_asked();
}

}  // namespace mantissa

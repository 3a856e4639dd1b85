#include "sim/recipe/recipe_text.hpp"

#include <charconv>

#include "sim/recipe/recipe_words.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/yaml_document.hpp"

namespace mantissa {
namespace {

// The shortest text that reads back as the same number.
std::string text_of(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}
std::string text_of(bool value) { return value ? "true" : "false"; }

// One section, "key: {a: 1, b: 2}".
class Section {
 public:
  explicit Section(const std::string& key) : text_(key + ": {") {}
  Section& add(const std::string& key, std::string_view value) {
    text_ += (empty_ ? "" : ", ") + key + ": ";
    text_ += value;
    empty_ = false;
    return *this;
  }
  std::string line() const { return text_ + "}\n"; }

 private:
  std::string text_;
  bool empty_ = true;
};

std::string tensor_line(const std::string& key, const Recipe& recipe, const TensorFormat& tensor) {
  Section section(key);
  if (recipe.weights.type.is_integer()) {
    section.add("bits", std::to_string(tensor.type.bits())).add("exact_zero", text_of(tensor.exact_zero));
  } else {
    section.add("format", tensor.type.name())
        .add("overflow", word_for(overflow_words, tensor.overflow))
        .add("via", word_for(via_words, tensor.via_fp16))
        .add("scale", word_for(scale_words, tensor.scale));
    if (tensor.scale == TensorFormat::Scale::fixed)
      section.add("scale_exponent", std::to_string(tensor.scale_exponent));
  }
  return section.add("rounding", "\"" + tensor.rounding.name() + "\"").line();
}

std::string accumulator_line(const Accumulator& accumulator) {
  Section section("accumulator");
  section.add("kind", "\"" + accumulator.kind_name() + "\"")
      .add("format", accumulator.format.name())
      .add("rounding", "\"" + accumulator.rounding.name() + "\"");
  if (accumulator.kind == Accumulator::Kind::chunk) {
    section.add("inner_format", accumulator.inner_format.name());
    if (accumulator.inner) {
      section.add("inner", "\"" + accumulator.inner_name() + "\"")
          .add("order", std::string(name_of(accumulator.order)));
    } else {
      section.add("inner_rounding", "\"" + accumulator.inner_rounding.name() + "\"");
    }
  }
  return section.line();
}

std::string loss_scale_line(const LossScaleRule& rule) {
  Section section("loss_scale");
  section.add("kind", word_for(loss_scale_words, rule.kind));
  if (rule.kind != LossScaleRule::Kind::none) section.add("exponent", std::to_string(rule.exponent));
  if (rule.kind == LossScaleRule::Kind::dynamic) {
    section.add("growth_interval", std::to_string(rule.dynamic.growth_interval));
    std::string floors;
    for (const LossScaleFloor& floor : rule.dynamic.floors) {
      floors += (floors.empty() ? "{step: " : ", {step: ") + std::to_string(floor.step) +
                ", exponent: " + std::to_string(floor.exponent) + "}";
    }
    if (!floors.empty()) section.add("floors", "[" + floors + "]");
  }
  return section.line();
}

std::string norm_line(const NormRule& rule) {
  Section section("norm");
  section.add("kind", word_for(norm_words, rule.kind));
  // The plain case goes without a word: digests in traces are older than the key.
  if (rule.parts != 1) section.add("parts", std::to_string(rule.parts));
  if (rule.kind == NormRule::Kind::standard) return section.line();
  return section.add("precision", word_for(precision_words, rule.range.precision))
      .add("constant", word_for(constant_words, rule.range.channel.constant))
      .add("chunks", std::to_string(rule.range.channel.chunks))
      .add("gradient_rounding", "\"" + rule.range.gradient_rounding.name() + "\"")
      .line();
}

std::string pruning_line(const PruningRule& rule) {
  Section section("pruning");
  section.add("sparsity", text_of(rule.sparsity))
      .add("max_sparsity", text_of(rule.max_sparsity))
      .add("random_bits", std::to_string(rule.random_bits));
  if (rule.min_cosine) section.add("min_cosine", text_of(*rule.min_cosine));
  return section.add("refresh_steps", std::to_string(rule.refresh_steps))
      .add("choose_format", text_of(rule.choose_format))
      .add("threshold", word_for(threshold_words, rule.threshold))
      .add("feedback", text_of(rule.feedback))
      .line();
}

std::string compression_line(const CompressionRule& rule) {
  std::string warm_up;
  for (const double sparsity : rule.warm_up) warm_up += (warm_up.empty() ? "" : ", ") + text_of(sparsity);
  return Section("compression")
      .add("sparsity", text_of(rule.sparsity))
      .add("momentum", text_of(rule.momentum))
      .add("warm_up", "[" + warm_up + "]")
      .add("sample", text_of(rule.sample))
      .add("factor_masking", text_of(rule.factor_masking))
      .line();
}

// As YAML says it in one line.
std::string text_of(const YamlNode& node) {
  std::string text;
  switch (node.kind) {
    case YamlNode::Kind::scalar:
      return node.text;
    case YamlNode::Kind::list:
      for (const YamlNode& item : node.values) text += (text.empty() ? "" : ", ") + text_of(item);
      return "[" + text + "]";
    case YamlNode::Kind::map:
      for (std::size_t i = 0; i < node.keys.size(); ++i)
        text += (i == 0 ? "" : ", ") + node.keys[i] + ": " + text_of(node.values[i]);
      return "{" + text + "}";
  }
  return text;
}

void add_settings(const YamlNode& map, const std::string& path, std::vector<Setting>& settings) {
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    if (map.values[i].kind == YamlNode::Kind::map) {
      add_settings(map.values[i], path + map.keys[i] + ".", settings);
    } else {
      settings.push_back({path + map.keys[i], text_of(map.values[i])});
    }
  }
}

}  // namespace

std::string recipe_content(const Recipe& recipe) {
  std::string text = "arithmetic: " + std::string(word_for(arithmetic_words, recipe.arithmetic)) + "\n";
  text += tensor_line("weights", recipe, recipe.weights);
  text += tensor_line("activations", recipe, recipe.activations);
  text += tensor_line("errors", recipe, recipe.errors);
  text += tensor_line("weight_gradients", recipe, recipe.weight_gradients);
  if (recipe.errors_for_weights)
    text += tensor_line("errors_for_weights", recipe, *recipe.errors_for_weights);
  if (!recipe.weights.type.is_integer()) text += accumulator_line(recipe.accumulator);
  text += Section("master_weights")
              .add("format", recipe.master_weights.format.name())
              .add("rounding", "\"" + recipe.master_weights.rounding.name() + "\"")
              .line();
  text += loss_scale_line(recipe.loss_scale);
  text += norm_line(recipe.norm);
  text += "exempt_first: " + text_of(recipe.exempt_first) + "\n";
  text += "exempt_last: " + text_of(recipe.exempt_last) + "\n";
  if (recipe.pruning) text += pruning_line(*recipe.pruning);
  if (recipe.clip_norm) text += "clip_norm: " + text_of(*recipe.clip_norm) + "\n";
  if (recipe.compression) text += compression_line(*recipe.compression);
  if (recipe.sampling) {
    text += Section("sampling")
                .add("levels", std::to_string(recipe.sampling->levels))
                .add("random_bits", std::to_string(recipe.sampling->random_bits))
                .line();
  }
  return text;
}

std::vector<Setting> recipe_settings(const Recipe& recipe) {
  std::vector<Setting> settings = {{"name", recipe.name}, {"source", recipe.source}};
  add_settings(YamlDocument(recipe_content(recipe), recipe.name).root(), "", settings);
  return settings;
}

std::string recipe_digest(const Recipe& recipe) { return sha256(recipe_content(recipe)); }

}  // namespace mantissa

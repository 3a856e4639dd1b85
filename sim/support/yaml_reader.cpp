#include "sim/support/yaml_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

std::string_view kind_name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::scalar:
      return "a word";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return "";
}

template <typename T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The shortest text that reads back as this number: a limit just below 1 does not look like 1.
std::string shown(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

YamlMap::YamlMap(const YamlDocument& document, const std::string& title)
    : YamlMap(document, document.root(), title, "") {}

YamlMap::YamlMap(const YamlDocument& document, const YamlNode& node, std::string name, std::string path)
    : document_(&document), node_(&node), name_(std::move(name)), path_(std::move(path)) {}

const YamlNode* YamlMap::at(const std::string& key) const {
  const auto found = std::find(node_->keys.begin(), node_->keys.end(), key);
  return found == node_->keys.end() ? nullptr
                                    : &node_->values[static_cast<std::size_t>(found - node_->keys.begin())];
}

const YamlNode* YamlMap::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.push_back(key);
    document_->note_key(path_ + key);
  }
  return at(key);
}

const YamlNode* YamlMap::of_kind(const std::string& key, YamlNode::Kind kind, const char* wanted) {
  const YamlNode* node = find(key);
  if (node != nullptr && node->kind != kind) {
    refuse(key, in_quotes(key) + " is " + std::string(kind_name(node->kind)) + "; it must be " + wanted);
  }
  return node;
}

const YamlNode* YamlMap::scalar(const std::string& key, const char* wanted) {
  return of_kind(key, YamlNode::Kind::scalar, wanted);
}

void YamlMap::read(const std::string& key, std::string& value) {
  if (const YamlNode* node = scalar(key, "a text")) value = node->text;
  note(key, value);
}

void YamlMap::read(const std::string& key, bool& value) {
  read_word<bool>(key, value, {{"true", true}, {"false", false}});
}

double YamlMap::number(const std::string& key, const YamlNode& node, Limits<double> limits) const {
  const std::optional<double> value = parsed<double>(node.text);
  // A NaN is in no range.
  if (!value || !(*value >= limits.min && *value <= limits.max)) {
    refuse_value(key, node, "it must be a number in " + shown(limits.min) + ".." + shown(limits.max));
  }
  return *value;
}

void YamlMap::read(const std::string& key, double& value, Limits<double> limits) {
  if (const YamlNode* node = scalar(key, "a number")) value = number(key, *node, limits);
  note(key, shown(value));
}

void YamlMap::read(const std::string& key, std::vector<double>& values, Limits<double> limits) {
  const YamlNode* node = of_kind(key, YamlNode::Kind::list, "a list of numbers");
  if (node == nullptr) return;
  values.clear();
  for (const YamlNode& item : node->values) {
    if (item.kind != YamlNode::Kind::scalar)
      document_->refuse(item.line, in_quotes(key) + " must be a list of numbers");
    values.push_back(number(key, item, limits));
  }
}

std::int64_t YamlMap::read_integer(const std::string& key, std::int64_t fallback,
                                   Limits<std::int64_t> limits) {
  const YamlNode* node = scalar(key, "a whole number");
  if (node == nullptr) return fallback;
  const std::optional<std::int64_t> value = parsed<std::int64_t>(node->text);
  if (!value || *value < limits.min || *value > limits.max) {
    refuse_value(
        key, *node,
        "it must be a whole number in " + std::to_string(limits.min) + ".." + std::to_string(limits.max));
  }
  return *value;
}

void YamlMap::require(const std::string& key) {
  if (find(key) == nullptr)
    document_->refuse(node_->line, in_quotes(name_) + " needs a key " + in_quotes(key));
}

YamlMap YamlMap::inner(const YamlNode& node, const std::string& name, const std::string& path) const {
  return {*document_, node, name, path_ + path + "."};
}

std::optional<YamlMap> YamlMap::map(const std::string& key) {
  const YamlNode* node = of_kind(key, YamlNode::Kind::map, "a map");
  if (node == nullptr) return std::nullopt;
  return inner(*node, key, key);
}

std::vector<YamlMap> YamlMap::list_of_maps(const std::string& key) {
  std::vector<YamlMap> maps;
  const YamlNode* node = of_kind(key, YamlNode::Kind::list, "a list of maps");
  if (node == nullptr) return maps;
  for (const YamlNode& item : node->values) {
    if (item.kind != YamlNode::Kind::map)
      document_->refuse(item.line, in_quotes(key) + " must be a list of maps");
    maps.push_back(inner(item, key, key));
  }
  return maps;
}

std::vector<std::pair<std::string, YamlMap>> YamlMap::named_maps(const std::string& key) {
  std::vector<std::pair<std::string, YamlMap>> maps;
  const YamlNode* node = of_kind(key, YamlNode::Kind::map, "a map");
  if (node == nullptr) return maps;
  for (std::size_t i = 0; i < node->values.size(); ++i) {
    const YamlNode& item = node->values[i];
    if (item.kind != YamlNode::Kind::map)
      document_->refuse(node->key_lines[i], in_quotes(node->keys[i]) + " must be a map");
    maps.emplace_back(node->keys[i], inner(item, node->keys[i], key + ".NAME"));
  }
  return maps;
}

std::vector<std::pair<std::string, std::string>> YamlMap::named_words(const std::string& key) {
  std::vector<std::pair<std::string, std::string>> words;
  const YamlNode* node = of_kind(key, YamlNode::Kind::map, "a map");
  if (node == nullptr) return words;
  for (std::size_t i = 0; i < node->values.size(); ++i) {
    if (node->values[i].kind != YamlNode::Kind::scalar)
      document_->refuse(node->key_lines[i], in_quotes(node->keys[i]) + " must be a word");
    words.emplace_back(node->keys[i], node->values[i].text);
  }
  return words;
}

void YamlMap::finish() const {
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    if (std::find(known_.begin(), known_.end(), node_->keys[i]) != known_.end()) continue;
    std::string list;
    for (const std::string& key : known_) list += (list.empty() ? "" : ", ") + key;
    document_->refuse(node_->key_lines[i], "unknown key " + in_quotes(node_->keys[i]) + " in " +
                                               in_quotes(name_) +
                                               (list.empty() ? "; it has no keys" : "; allowed: " + list));
  }
}

void YamlMap::refuse(const std::string& key, const std::string& what) const {
  const YamlNode* node = at(key);
  document_->refuse(node == nullptr ? node_->line : node->line, what);
}

void YamlMap::refuse_value(const std::string& key, const YamlNode& node, const std::string& what) const {
  document_->refuse(node.line, key + " is " + in_quotes(node.text) + "; " + what);
}

void YamlMap::refuse_text(const std::string& key, const YamlNode& node, std::string message) const {
  const std::size_t at = node.text.empty() ? std::string::npos : message.find(node.text);
  if (at != std::string::npos) message.replace(at, node.text.size(), shortened(node.text));
  document_->refuse(node.line, key + ": " + printable(message));
}

void YamlMap::refuse_check(const std::string& message) const {
  // The first word may name a key, or a section and its key.
  std::string word = message.substr(0, message.find_first_of(" :,;"));
  word.resize(std::min(word.find('.'), word.size()));
  refuse(word, message);
}

}  // namespace mantissa

// Typed access to the keys of a YAML map. A reader asks for what it knows; what nobody asked for is an error.
// Every message names file and line.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/support/yaml_document.hpp"

namespace mantissa {

// Limits of a number, both included.
template <typename T>
struct Limits {
  T min;
  T max;
};

class YamlMap {
 public:
  // The document must outlive the map. `title` names the whole file in messages: "recipe".
  YamlMap(const YamlDocument& document, const std::string& title);

  // Each leaves the value as it is where the key is absent, and throws std::invalid_argument where its value
  // is of another kind or out of range.
  void read(const std::string& key, std::string& value);
  void read(const std::string& key, bool& value);
  void read(const std::string& key, double& value, Limits<double> limits);
  void read(const std::string& key, std::vector<double>& values, Limits<double> limits);
  template <std::integral T>
  void read(const std::string& key, T& value, Limits<T> limits) {
    value = static_cast<T>(
        read_integer(key, static_cast<std::int64_t>(value),
                     {static_cast<std::int64_t>(limits.min), static_cast<std::int64_t>(limits.max)}));
    note(key, std::to_string(value));
  }
  // One of some words, pairs of word and meaning.
  template <typename T>
  void read_word(const std::string& key, T& value,
                 std::initializer_list<std::pair<std::string_view, T>> words) {
    read_one_of(key, value, words);
  }
  template <typename T, typename Words>
  void read_one_of(const std::string& key, T& value, const Words& words) {
    const YamlNode* node = scalar(key, "a word");
    std::string known;
    for (const auto& [word, meaning] : words) {
      if (node == nullptr ? value == meaning : node->text == word) {
        value = meaning;
        note(key, std::string(word));
        return;
      }
      known.append(known.empty() ? "" : ", ").append(word);
    }
    if (node != nullptr) refuse_value(key, *node, "allowed: " + known);
  }
  // What `parse` makes of the text; its own message, which may quote the text, is passed on.
  template <typename T, typename Parse>
  void read_with(const std::string& key, T& value, Parse parse) {
    const YamlNode* node = scalar(key, "a word");
    if (node == nullptr) return;
    try {
      value = parse(node->text);
    } catch (const std::invalid_argument& error) {
      refuse_text(key, *node, error.what());
    }
  }

  // The same, and `write` gives the text of what the value is then.
  template <typename T, typename Parse, typename Write>
  void read_with(const std::string& key, T& value, Parse parse, Write write) {
    read_with(key, value, parse);
    note(key, write(value));
  }

  bool has(const std::string& key) { return find(key) != nullptr; }
  // Where a key may be a word or a map.
  bool has_word(const std::string& key) {
    const YamlNode* node = find(key);
    return node != nullptr && node->kind == YamlNode::Kind::scalar;
  }
  void require(const std::string& key);
  std::optional<YamlMap> map(const std::string& key);
  std::vector<YamlMap> list_of_maps(const std::string& key);
  // A map whose keys are names of the file's own choice, each of a map.
  std::vector<std::pair<std::string, YamlMap>> named_maps(const std::string& key);
  // The same, each of a word.
  std::vector<std::pair<std::string, std::string>> named_words(const std::string& key);

  // Throws for the first key that nobody asked for.
  void finish() const;
  // Runs a check whose message may begin with a key of this map: adds the file and that key's line.
  template <typename Check>
  void checked(Check check) const {
    try {
      check();
    } catch (const std::invalid_argument& error) {
      refuse_check(error.what());
    }
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  YamlMap(const YamlDocument& document, const YamlNode& node, std::string name, std::string path);

  const YamlNode* find(const std::string& key);
  void note(const std::string& key, std::string value) const {
    document_->note_value(path_ + key, std::move(value));
  }
  const YamlNode* at(const std::string& key) const;
  const YamlNode* scalar(const std::string& key, const char* wanted);
  const YamlNode* of_kind(const std::string& key, YamlNode::Kind kind, const char* wanted);
  YamlMap inner(const YamlNode& node, const std::string& name, const std::string& path) const;
  std::int64_t read_integer(const std::string& key, std::int64_t fallback, Limits<std::int64_t> limits);
  double number(const std::string& key, const YamlNode& node, Limits<double> limits) const;
  [[noreturn]] void refuse_value(const std::string& key, const YamlNode& node, const std::string& what) const;
  // With a parser's own message, in which the text is cut where it is long.
  [[noreturn]] void refuse_text(const std::string& key, const YamlNode& node, std::string message) const;
  [[noreturn]] void refuse_check(const std::string& message) const;

  const YamlDocument* document_;
  const YamlNode* node_;
  std::string name_;  // in messages
  std::string path_;  // of keys, with a dot at its end
  std::vector<std::string> known_;
};

}  // namespace mantissa

// A YAML file as a tree of values that know their lines. Made for configurations from strangers: bounded in
// size and depth, without aliases, tags and keys that stand there twice.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mantissa {

struct YamlNode {
  enum class Kind : std::uint8_t { scalar, list, map };
  Kind kind = Kind::scalar;
  int line = 1;
  std::string text;               // of a scalar
  std::vector<YamlNode> values;   // of a list or a map
  std::vector<std::string> keys;  // of a map, one per value
  std::vector<int> key_lines;
};

class YamlDocument {
 public:
  static constexpr std::size_t max_bytes = 1 << 20;
  static constexpr std::size_t max_depth = 16;

  // `file` is its name in messages. Throws std::invalid_argument `FILE:LINE: what` for text that is not YAML,
  // not a map, too large or too deep, and for what is named above.
  YamlDocument(std::string_view text, std::string file);

  // Gives a key another value, as if it stood in the file: "weights.format" is a key of the map "weights",
  // which is made if it is not there. Messages about it name the setting in place of a line. Throws
  // std::invalid_argument where a part of the path is no map.
  void set(const std::string& path, const std::string& value);

  const YamlNode& root() const { return root_; }
  const std::string& file() const { return file_; }
  [[noreturn]] void refuse(int line, const std::string& what) const;

  // Every key that a reader has asked for, as a path of sections: "weights.format". Documentation is checked
  // against it.
  const std::set<std::string>& keys_asked() const { return keys_asked_; }
  // Those of the root alone.
  std::vector<std::string> top_keys_asked() const;
  void note_key(const std::string& path) const { keys_asked_.insert(path); }
  // What readers made of their keys, in their order, also where a key is absent: as the file could say it.
  const std::vector<std::pair<std::string, std::string>>& values_read() const { return values_read_; }
  void note_value(const std::string& path, std::string value) const {
    values_read_.emplace_back(path, std::move(value));
  }

 private:
  std::string file_;
  YamlNode root_;
  std::vector<std::string> settings_;  // number n has the line -n
  mutable std::set<std::string> keys_asked_;
  mutable std::vector<std::pair<std::string, std::string>> values_read_;
};

}  // namespace mantissa

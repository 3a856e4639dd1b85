#include "sim/support/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "sim/support/user_text.hpp"
#include "sim/support/utf8.hpp"

namespace mantissa {
namespace {

// Builds the tree from the parser's events, so that whatever is refused is refused before it costs anything.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlDocument& document) : document_(document) {}

  YamlNode take_root() { return std::move(root_); }
  bool complete() const { return complete_; }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (open_.empty()) document_.refuse(1, "the file is empty");
    if (!wants_value()) document_.refuse(line_of(mark), "a value is missing");
    // The parser sees what is missing only where the next thing stands.
    document_.refuse(pending_.back().second, in_quotes(pending_.back().first) + " has no value");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    document_.refuse(line_of(mark), "aliases (*name) are not read here; write the value again");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (!open_.empty() && open_.back().kind == YamlNode::Kind::map && !wants_value()) {
      const auto& keys = open_.back().keys;
      if (!names_.back().insert(value).second) {
        const auto first = std::find(keys.begin(), keys.end(), value) - keys.begin();
        document_.refuse(line_of(mark),
                         "key " + in_quotes(value) + " appears twice; first in line " +
                             std::to_string(open_.back().key_lines[static_cast<std::size_t>(first)]));
      }
      pending_.back() = {value, line_of(mark)};
      has_pending_.back() = true;
      return;
    }
    YamlNode node;
    node.line = line_of(mark);
    node.text = value;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }
  bool wants_value() const { return !has_pending_.empty() && has_pending_.back(); }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor)
      document_.refuse(line_of(mark), "anchors (&name) are not read here; write the value where it is used");
    // "?" is a plain value, "!" one in quotes.
    if (!tag.empty() && tag != "?" && tag != "!")
      document_.refuse(line_of(mark), "tags (" + shortened(tag) + ") are not read here");
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (!open_.empty() && open_.back().kind == YamlNode::Kind::map && !wants_value())
      document_.refuse(line_of(mark), "a key must be a word");
    if (open_.size() >= YamlDocument::max_depth) {
      document_.refuse(line_of(mark),
                       "more than " + std::to_string(YamlDocument::max_depth) + " levels inside each other");
    }
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    open_.push_back(std::move(node));
    names_.emplace_back();
    pending_.emplace_back();
    has_pending_.push_back(false);
  }
  void close() {
    if (open_.empty()) throw std::logic_error("YAML events out of order");
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    pending_.pop_back();
    has_pending_.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      complete_ = true;
      return;
    }
    YamlNode& parent = open_.back();
    if (parent.kind == YamlNode::Kind::map) {
      parent.keys.push_back(std::move(pending_.back().first));
      parent.key_lines.push_back(pending_.back().second);
      has_pending_.back() = false;
    }
    parent.values.push_back(std::move(node));
  }

  const YamlDocument& document_;
  YamlNode root_;
  bool complete_ = false;
  std::vector<YamlNode> open_;  // from the root inwards
  // One per open node: the keys that a map has, and the key whose value comes next.
  std::vector<std::set<std::string>> names_;
  std::vector<std::pair<std::string, int>> pending_;
  std::vector<bool> has_pending_;
};

// The parser guesses other encodings from the first bytes; only UTF-8 is let through.
void check_is_text(std::string_view text, const YamlDocument& document) {
  int line = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) continue;
    if (byte == '\n') ++line;
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F;
    // No UTF-8 begins or continues with these: byte order marks of UTF-16 and UTF-32 do.
    if (control || byte >= 0xF8) document.refuse(line, "this is not a text file");
  }
  // Names from here go into JSON, which is UTF-8.
  const std::size_t valid = valid_utf8_bytes(text);
  if (valid == text.size()) return;
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(valid), '\n');
  document.refuse(static_cast<int>(lines) + 1, "this is not UTF-8");
}

}  // namespace

YamlDocument::YamlDocument(std::string_view text, std::string file) : file_(std::move(file)) {
  if (text.size() > max_bytes) {
    throw std::invalid_argument(file_ + ": " + std::to_string(text.size()) +
                                " bytes are too many for a configuration; at most " +
                                std::to_string(max_bytes));
  }
  check_is_text(text, *this);
  TreeBuilder builder(*this);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder) || !builder.complete()) refuse(1, "the file is empty");
    root_ = builder.take_root();
    if (parser.HandleNextDocument(builder)) refuse(1, "more than one YAML document in the file");
  } catch (const YAML::Exception& error) {
    refuse(error.mark.is_null() ? 1 : error.mark.line + 1, "not YAML: " + error.msg);
  }
  if (root_.kind != YamlNode::Kind::map) refuse(root_.line, "not a map of keys and values");
}

std::vector<std::string> YamlDocument::top_keys_asked() const {
  std::vector<std::string> keys;
  for (const std::string& key : keys_asked_) {
    if (key.find('.') == std::string::npos) keys.push_back(key);
  }
  return keys;
}

void YamlDocument::set(const std::string& path, const std::string& value) {
  settings_.push_back(path + "=" + value);
  const int line = -static_cast<int>(settings_.size());
  YamlNode* node = &root_;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (key.empty()) refuse(line, "a key is missing");
    if (node->kind != YamlNode::Kind::map)
      refuse(line, in_quotes(path.substr(0, begin - 1)) + " is no map of keys");
    const auto found = std::find(node->keys.begin(), node->keys.end(), key);
    const auto place = static_cast<std::size_t>(found - node->keys.begin());
    if (found == node->keys.end()) {
      node->keys.push_back(key);
      node->key_lines.push_back(line);
      node->values.push_back(
          {.kind = YamlNode::Kind::map, .line = line, .text = {}, .values = {}, .keys = {}, .key_lines = {}});
    }
    node->key_lines[place] = line;
    node = &node->values[place];
    begin = end + 1;
  }
  *node = {
      .kind = YamlNode::Kind::scalar, .line = line, .text = value, .values = {}, .keys = {}, .key_lines = {}};
}

void YamlDocument::refuse(int line, const std::string& what) const {
  if (line < 0) {
    throw std::invalid_argument("--set " + in_quotes(settings_[static_cast<std::size_t>(-line) - 1]) + ": " +
                                what);
  }
  throw std::invalid_argument(file_ + ":" + std::to_string(line) + ": " + what);
}

}  // namespace mantissa

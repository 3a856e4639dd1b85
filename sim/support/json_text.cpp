#include "sim/support/json_text.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/support/json.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

// Builds the tree from the parser's events. nlohmann's own builder with a callback looks through all members
// of an object whenever one of them ends.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, const std::string& where, std::size_t deepest)
      : text_(text), where_(where), deepest_(deepest) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*as written*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) override {
    throw std::logic_error("JSON text has no binary values");
  }
  bool start_object(std::size_t /*unknown*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*unknown*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [member, added] = open_.back()->get_ref<Json::object_t&>().try_emplace(name);
    if (!added) fail(in_quotes(name, 200) + " appears twice" + place());
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception&) override {
    fail_at(position, token.empty() ? "the text ends too early or has no value"
                                    : in_quotes(token) + " does not belong there");
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(where_ + ": " + what); }
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const {
    const std::string_view before = text_.substr(0, position);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    fail("not valid JSON: line " + std::to_string(line) + ", byte " + std::to_string(position) + ": " + what);
  }

 private:
  // Of the innermost object or array that is open, as keys and numbers of elements.
  std::string place() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      if (open_[i]->is_array()) {
        path += "[" + std::to_string(open_[i]->size() - 1) + "]";
        continue;
      }
      for (const auto& [key, value] : open_[i]->get_ref<const Json::object_t&>()) {
        if (&value == open_[i + 1]) path += (path.empty() ? "" : ".") + shortened(key);
      }
    }
    return path.empty() ? "" : " in " + path;
  }
  bool add(Json value) {
    (void)put(std::move(value));
    return true;
  }
  bool open(Json empty) {
    if (open_.size() == deepest_) {
      fail("JSON nested deeper than " + std::to_string(deepest_) + " levels" + place());
    }
    open_.push_back(put(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  Json* put(Json value) {
    if (++values_ > most_json_values) fail("more than " + std::to_string(most_json_values) + " values");
    Json* place = &root_;
    if (!open_.empty() && open_.back()->is_array()) {
      auto& list = open_.back()->get_ref<Json::array_t&>();
      list.emplace_back();
      place = &list.back();
    } else if (!open_.empty()) {
      place = member_;
    }
    *place = std::move(value);
    return place;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t deepest_;
  std::size_t values_ = 0;
  Json root_;
  // Objects and arrays that are open, from the root inwards: none moves while it is, as only the innermost
  // grows.
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost object: whose value comes next
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where, std::size_t deepest) {
  TreeBuilder builder(text, where, deepest);
  if (text.size() > largest_json) {
    builder.fail(std::to_string(text.size()) + " bytes are too many; at most " +
                 std::to_string(largest_json) + " are read");
  }
  // nlohmann would take a zero byte for the end of the text.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) builder.fail_at(zero + 1, "a zero byte does not belong there");
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

OrderedJson& object_in(OrderedJson& json, const std::string& key) {
  OrderedJson& member = json[key];
  if (member.is_null()) member = OrderedJson::object();
  return member;
}

OrderedJson& list_in(OrderedJson& json, const std::string& key) {
  OrderedJson& member = json[key];
  if (member.is_null()) member = OrderedJson::array();
  return member;
}

std::string json_text(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mantissa

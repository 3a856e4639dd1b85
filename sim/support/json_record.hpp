// One JSON object of a trace's metadata: only known keys, typed values, messages that say where.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/support/json.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {

inline constexpr std::size_t longest_name = 200;
// Far beyond any network, and small enough that no size of a convolution overflows.
inline constexpr std::int64_t largest_parameter = 65536;

// All its keys are known; errors begin with where it stands.
class JsonRecord {
 public:
  JsonRecord(const Json& json, std::string where, std::initializer_list<std::string_view> known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("is not an object");
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string list;
      for (const std::string_view name : known) list.append(list.empty() ? "" : ", ").append(name);
      fail("unknown key " + in_quotes(key) + "; allowed: " + list);
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(where_ + ": " + what); }
  [[noreturn]] void fail(const std::string& key, const Json& value, const std::string& what) const {
    fail(key + " is " + shortened(value.dump(-1, ' ', true)) + "; it must be " + what);
  }

  const Json* find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  std::string text(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) fail("has no " + key);
    if (!value->is_string()) fail(key, *value, "a string");
    return value->get<std::string>();
  }

  std::int64_t number(const std::string& key, const Json& value, std::int64_t min, std::int64_t max) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(max) ||
        value.get<std::int64_t>() < min) {
      fail(key, value, "a whole number in " + std::to_string(min) + ".." + std::to_string(max));
    }
    return value.get<std::int64_t>();
  }

  // A number, or a pair of height and width.
  std::array<std::int64_t, 2> pair(const std::string& key, std::array<std::int64_t, 2> missing,
                                   std::int64_t min) const {
    const Json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_array()) {
      const std::int64_t both = number(key, *value, min, largest_parameter);
      return {both, both};
    }
    if (value->size() != 2) fail(key, *value, "a number or a pair [height, width]");
    return {number(key, (*value)[0], min, largest_parameter),
            number(key, (*value)[1], min, largest_parameter)};
  }

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace mantissa

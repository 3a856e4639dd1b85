// One JSON object of a file's metadata: only known keys, typed values, messages that say where.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/support/json.hpp"
#include "sim/support/layer_name.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {

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

  const std::string& where() const { return where_; }
  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(where_ + ": " + what); }
  [[noreturn]] void fail(const std::string& key, const Json& value, const std::string& what) const {
    fail(key + " is " + shortened(value.dump(-1, ' ', true)) + "; it must be " + what);
  }

  const Json* find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& at(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) fail("has no " + key);
    return *value;
  }

  std::string text(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_string()) fail(key, value, "a string");
    return value.get<std::string>();
  }

  std::int64_t number(const std::string& key, const Json& value, std::int64_t min, std::int64_t max) const {
    // A number above 2^63 must not come round as a negative one.
    const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
    if (!value.is_number_integer() || huge || value.get<std::int64_t>() < min ||
        value.get<std::int64_t>() > max) {
      fail(key, value, "a whole number in " + std::to_string(min) + ".." + std::to_string(max));
    }
    return value.get<std::int64_t>();
  }
  std::int64_t number(const std::string& key, std::int64_t min, std::int64_t max) const {
    return number(key, at(key), min, max);
  }

  // Finite; without a limit where `max` is the largest number.
  double real(const std::string& key, const Json& value, double min,
              double max = std::numeric_limits<double>::max()) const {
    const double real = value.is_number() ? value.get<double>() : NAN;
    if (!(real >= min && real <= max)) {
      const bool open = max == std::numeric_limits<double>::max();
      fail(key, value,
           open ? fmt::format("a number from {}", min) : fmt::format("a number in {}..{}", min, max));
    }
    return real;
  }
  double real(const std::string& key, double min, double max = std::numeric_limits<double>::max()) const {
    return real(key, at(key), min, max);
  }

  const Json& list(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_array()) fail(key, value, "a list");
    return value;
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

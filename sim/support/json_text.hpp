// JSON in and out: from a file that nobody vouches for, in the one way in which this tree reads any, and as
// text that every reader of JSON takes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/support/json.hpp"

namespace mantissa {

// Of a text that is read at all. What JSON makes of it in memory is bounded by the number of values too.
inline constexpr std::size_t largest_json = std::size_t{256} << 20;
inline constexpr std::size_t most_json_values = std::size_t{16} << 20;

// Throws std::invalid_argument, which begins with `where`: not JSON, a key twice in one object, brackets
// deeper than `deepest`, or more than the limits above. Takes time in proportion to the text, but for the
// sorting of keys.
Json parse_json(std::string_view text, const std::string& where, std::size_t deepest);

// A member that is an object or a list, empty where there was none. json[key][name] = value would make one,
// too, but where there is no memory for it nlohmann leaves a half-made one, which no destructor survives.
OrderedJson& object_in(OrderedJson& json, const std::string& key);
OrderedJson& list_in(OrderedJson& json, const std::string& key);

// Valid UTF-8 whatever the strings hold: bytes that are none, as a file name may have, become U+FFFD. On one
// line where `indent` is negative.
std::string json_text(const OrderedJson& json, int indent);
std::string json_text(const Json& json, int indent);

}  // namespace mantissa

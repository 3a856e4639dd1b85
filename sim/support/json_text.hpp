// JSON from a file that nobody vouches for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/support/json.hpp"

namespace mantissa {

// Throws std::invalid_argument, which begins with `where`: not JSON, a key twice in one object, or brackets
// deeper than `deepest`.
Json parse_json(std::string_view text, const std::string& where, std::size_t deepest);

}  // namespace mantissa

// A recipe written out: every key with its value, also those that its file leaves to their defaults.
#pragma once

#include <string>
#include <vector>

#include "sim/recipe/recipe.hpp"
#include "sim/support/config_file.hpp"

namespace mantissa {

// YAML of all that decides a bit: with a name before it, it parses back to the same recipe.
std::string recipe_content(const Recipe& recipe);

// Every key of the same, with name and source: {"weights.format", "e5m2"}.
std::vector<Setting> recipe_settings(const Recipe& recipe);

// SHA-256 of the content, whatever the recipe is called: two recipes with the same digest give the same bits.
std::string recipe_digest(const Recipe& recipe);

}  // namespace mantissa

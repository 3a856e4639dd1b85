// A recipe written out: every key with its value, also those that its file leaves to their defaults.
#pragma once

#include <string>

#include "sim/recipe/recipe.hpp"

namespace mantissa {

// YAML that parses back to the same recipe.
std::string recipe_text(const Recipe& recipe);

// Of what the recipe does, whatever it is called: two recipes with the same digest give the same bits.
std::string recipe_digest(const Recipe& recipe);

}  // namespace mantissa

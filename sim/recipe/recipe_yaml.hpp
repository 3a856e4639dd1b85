// Recipes from YAML; sim/configs/KEYS.md documents the keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/recipe/recipe.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/yaml_document.hpp"

namespace mantissa {

// All throw std::invalid_argument with file and line for what the text says wrongly.
// A shipped name ("fp8") or a path.
Loaded<Recipe> load_recipe(const std::string& name_or_path, const std::vector<Setting>& settings = {});
// Keys that a recipe has, without those of its maps.
std::vector<std::string> recipe_keys();
// `file` is its name in messages.
Recipe parse_recipe(std::string_view text, const std::string& file);
Recipe read_recipe(const YamlDocument& document);

}  // namespace mantissa

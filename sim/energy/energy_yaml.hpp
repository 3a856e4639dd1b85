// Energy tables from YAML; sim/configs/KEYS.md documents the keys.
#pragma once

#include <string>
#include <string_view>

#include "sim/energy/energy_table.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/yaml_document.hpp"

namespace mantissa {

// All throw std::invalid_argument with file and line for what the text says wrongly.
// A shipped name ("horowitz45") or a path.
Loaded<EnergyTable> load_energy_table(const std::string& name_or_path);
// `file` is its name in messages.
EnergyTable parse_energy_table(std::string_view text, const std::string& file);
EnergyTable read_energy_table(const YamlDocument& document);

}  // namespace mantissa

// Architectures from YAML; sim/configs/KEYS.md documents the keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/yaml_document.hpp"

namespace mantissa {

// All throw std::invalid_argument with file and line for what the text says wrongly, and for a machine that
// cannot be.
// A shipped name ("edge") or a path. A relative path of an energy table starts at the architecture's file.
Loaded<Architecture> load_architecture(const std::string& name_or_path,
                                       const std::vector<Setting>& settings = {});
std::vector<std::string> architecture_keys();
// `file` is its name in messages.
Architecture parse_architecture(std::string_view text, const std::string& file);
Architecture read_architecture(const YamlDocument& document);

}  // namespace mantissa

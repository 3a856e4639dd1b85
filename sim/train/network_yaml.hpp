// Networks as YAML files; sim/configs/KEYS.md documents the keys.
#pragma once

#include <string>
#include <string_view>

#include "sim/support/config_file.hpp"
#include "sim/support/yaml_document.hpp"
#include "sim/train/network.hpp"

namespace mantissa::train {

// All throw std::invalid_argument with file and line.
Network read_network(const YamlDocument& document);
Network parse_network(std::string_view text, const std::string& file);
// A shipped name (mlp, lenet, resnet8) or a path.
Loaded<Network> load_network(const std::string& name_or_path);

}  // namespace mantissa::train

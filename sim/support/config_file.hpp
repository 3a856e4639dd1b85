// Finding a configuration: a bare name is one that the program ships, anything else a path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class ConfigKind : unsigned char { recipe, architecture, energy, network };

struct ConfigFile {
  std::string text;
  std::filesystem::path path;
  std::string origin;  // as the user named it
};

// A key of a configuration and the value that it gets, as --set says it.
struct Setting {
  std::string key;
  std::string value;
};

// A configuration, and what it was made of.
template <typename T>
struct Loaded {
  T value;
  std::string hash;                // SHA-256 of the text
  std::string origin;              // as the user named it
  std::vector<Setting> keys = {};  // with the value that each has, defaults included
};

// Names of the shipped configurations, sorted.
std::vector<std::string> shipped_configs(ConfigKind kind);
std::filesystem::path shipped_config_path(ConfigKind kind, std::string_view name);

// A name with a '/' or that ends in .yaml is a path.
bool is_config_path(std::string_view name_or_path);

// The text of a file. Throws std::invalid_argument where it is no regular file, cannot be read, or is too
// large to be a configuration.
std::string config_text(const std::filesystem::path& path);

// Throws std::invalid_argument: for a name, with those that exist; for a path, as config_text.
ConfigFile find_config(ConfigKind kind, const std::string& name_or_path);

}  // namespace mantissa

#include "sim/support/config_file.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/support/data_directory.hpp"
#include "sim/support/directory_entries.hpp"
#include "sim/support/input_file.hpp"
#include "sim/support/user_text.hpp"
#include "sim/support/yaml_document.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".yaml";

fs::path directory_of(ConfigKind kind) {
  const fs::path configs = data_directory() / "sim/configs";
  switch (kind) {
    case ConfigKind::recipe:
      return configs / "recipes";
    case ConfigKind::architecture:
      return configs / "arch";
    case ConfigKind::energy:
      return configs / "energy";
    case ConfigKind::network:
      return configs / "networks";
  }
  return {};
}

std::string_view word_for(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::recipe:
      return "recipe";
    case ConfigKind::architecture:
      return "architecture";
    case ConfigKind::energy:
      return "energy table";
    case ConfigKind::network:
      return "network";
  }
  return "";
}

}  // namespace

std::string config_text(const fs::path& path) { return whole_file(path, YamlDocument::max_bytes); }

std::vector<std::string> shipped_configs(ConfigKind kind) {
  std::vector<std::string> names;
  for (const std::string& entry : entries_if_any(directory_of(kind).string())) {
    const fs::path file = entry;
    if (file.extension() == extension) names.push_back(file.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path shipped_config_path(ConfigKind kind, std::string_view name) {
  return directory_of(kind) / (std::string(name) + std::string(extension));
}

bool is_config_path(std::string_view name_or_path) {
  return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(extension);
}

ConfigFile find_config(ConfigKind kind, const std::string& name_or_path) {
  if (is_config_path(name_or_path)) return {config_text(name_or_path), name_or_path, printable(name_or_path)};
  const std::vector<std::string> names = shipped_configs(kind);
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    throw std::invalid_argument(
        "unknown " + std::string(word_for(kind)) + " " + in_quotes(name_or_path) + "; " +
        (list.empty() ? "none are shipped in " + directory_of(kind).string() : "shipped are " + list) +
        "; a file of your own is given as ./NAME.yaml");
  }
  const fs::path path = shipped_config_path(kind, name_or_path);
  return {config_text(path), path, name_or_path};
}

}  // namespace mantissa

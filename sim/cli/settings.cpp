#include "sim/cli/settings.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

bool has(const std::vector<std::string>& keys, const std::string& path) {
  return std::find(keys.begin(), keys.end(), path.substr(0, path.find('.'))) != keys.end();
}

std::string joined(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

void Settings::part() {
  if (words.empty()) return;
  const std::vector<std::string> of_arch = architecture_keys();
  const std::vector<std::string> of_recipe = recipe_keys();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw std::invalid_argument("--set " + in_quotes(word) +
                                  ": expected KEY=VALUE, such as c_buffer=32KiB");
    }
    Setting setting{word.substr(0, equals), word.substr(equals + 1)};
    bool arch = has(of_arch, setting.key);
    bool of_both = arch && has(of_recipe, setting.key);
    for (const char* prefix : {"arch.", "recipe."}) {
      if (!setting.key.starts_with(prefix)) continue;
      setting.key.erase(0, std::string_view(prefix).size());
      arch = prefix[0] == 'a';
      of_both = false;
    }
    if (of_both) {
      throw std::invalid_argument("--set " + in_quotes(word) +
                                  ": both the architecture and the recipe have this key; write arch." +
                                  setting.key + " or recipe." + setting.key);
    }
    if (!has(arch ? of_arch : of_recipe, setting.key)) {
      throw std::invalid_argument("--set " + in_quotes(word) + ": no such key; of an architecture: " +
                                  joined(of_arch) + "; of a recipe: " + joined(of_recipe));
    }
    (arch ? architecture : recipe).push_back(std::move(setting));
  }
}

CLI::Option* add_settings(CLI::App& command, Settings& settings) {
  return command
      .add_option(
          "--set", settings.words,
          "another value for a key of the architecture or the recipe (sim/configs/KEYS.md); may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all();
}

}  // namespace mantissa::cli

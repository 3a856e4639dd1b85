// --set KEY=VALUE: keys of the architecture and of the recipe, given on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sim/support/config_file.hpp"

namespace mantissa::cli {

struct Settings {
  std::vector<std::string> words;  // as given
  std::vector<Setting> architecture;
  std::vector<Setting> recipe;

  // Tells whose key each word sets. Throws std::invalid_argument for a word without '=', and for a key that
  // neither has; one that both have needs "arch." or "recipe." before it.
  void part();
};

CLI::Option* add_settings(CLI::App& command, Settings& settings);

}  // namespace mantissa::cli

// Options of `mantissa verify` that describe somebody else's RTL, and what `replay` shares of them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/same_file.hpp"
#include "sim/verify/verify_run.hpp"

namespace mantissa::cli {

struct DeviceOptions {
  std::vector<std::string> files;
  std::string top;
  std::vector<std::string> parameters;  // K=V
  std::vector<std::string> include_dirs;
  std::vector<std::string> defines;
  std::vector<std::string> map;  // unit's port=device's port
  std::string map_file;
  std::string latency;  // a number, or valid

  void add_to(CLI::App& command);
  // Nothing without --dut. Throws std::invalid_argument for options that do not fit together.
  std::optional<verify::ForeignDevice> device() const;
  // What they read.
  std::vector<NamedFile> inputs() const;
  // The options again, for a command line that repeats the run.
  std::string command_line() const;
};

// --timeout: when a device that does not come back counts as hanging.
void add_timeout(CLI::App& command, std::uint64_t& seconds);

// NAME=VALUE in two; throws std::invalid_argument that names the option where there is no =.
std::pair<std::string, std::string> name_and_value(const std::string& text, const std::string& option);

}  // namespace mantissa::cli

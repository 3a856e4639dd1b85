#include "sim/cli/device_options.hpp"

#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "sim/cli/options.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/user_text.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa::cli {
namespace {

constexpr int max_latency = 1000;

int latency_of(const std::string& text) {
  if (text == "valid") return -1;
  int cycles = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cycles);
  if (error != std::errc() || end != text.data() + text.size() || cycles < 0 || cycles > max_latency) {
    throw std::invalid_argument("--latency " + in_quotes(text) +
                                ": expected 'valid' or a number of cycles in 0.." +
                                std::to_string(max_latency));
  }
  return cycles;
}

// ports: {a_i: operand_a, ...}, and optionally latency: N or valid.
void read_map_file(const std::string& file, verify::ForeignDevice& device) {
  if (!std::filesystem::is_regular_file(file))
    throw std::invalid_argument("--map-file: no such file: " + file);
  const YamlDocument document(config_text(file), file);
  YamlMap root(document, "map file");
  for (const auto& [port, name] : root.named_words("ports")) device.map.names[port] = name;
  root.read_with("latency", device.map.latency, latency_of);
  root.finish();
}

}  // namespace

std::pair<std::string, std::string> name_and_value(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw std::invalid_argument(option + " takes NAME=VALUE, not " + in_quotes(text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_timeout(CLI::App& command, std::uint64_t& seconds) {
  command
      .add_option("--timeout", seconds,
                  "seconds that a device may take for one evaluation before it counts as hanging")
      ->transform(whole_number<std::uint64_t>(1, 1U << 20))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void DeviceOptions::add_to(CLI::App& command) {
  const std::string group = "Your own RTL";
  command
      .add_option("--dut", files,
                  "SystemVerilog file of your device, checked in place of the unit; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--top", top, "top module of the device")->type_name("MODULE")->group(group);
  command.add_option("--param", parameters, "parameter of the top module")
      ->type_name("K=V")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--incdir", include_dirs, "include directory")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--define", defines, "preprocessor define")
      ->type_name("NAME[=V]")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--map", map,
                  "name of the unit's port in the device; rst_ni=!NAME if its reset is active high")
      ->type_name("PORT=NAME")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--map-file", map_file, "the same as YAML: ports: {a_i: opa, ...}, latency: N|valid")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--latency", latency,
          "cycles from operands to result if the device has no valid_o (0 = combinational); valid (default): "
          "it has valid_i and valid_o, and ready_o and ready_i if it can stall")
      ->type_name("N|valid")
      ->group(group);
}

std::optional<verify::ForeignDevice> DeviceOptions::device() const {
  if (files.empty()) {
    if (!(top.empty() && parameters.empty() && map.empty() && map_file.empty() && latency.empty() &&
          defines.empty() && include_dirs.empty())) {
      throw std::invalid_argument(
          "--top, --param, --map, --map-file, --latency, --incdir and --define describe a device; give its "
          "files with --dut FILE");
    }
    return std::nullopt;
  }
  if (top.empty()) throw std::invalid_argument("--dut needs the name of the top module: --top MODULE");
  verify::ForeignDevice device;
  device.sources.files.assign(files.begin(), files.end());
  device.sources.include_dirs.assign(include_dirs.begin(), include_dirs.end());
  device.sources.defines = defines;
  device.sources.top = top;
  for (const std::string& parameter : parameters)
    device.sources.parameters.push_back(name_and_value(parameter, "--param"));
  if (!map_file.empty()) read_map_file(map_file, device);
  for (const std::string& entry : map) {
    const auto [port, name] = name_and_value(entry, "--map");
    device.map.names[port] = name;
  }
  if (!latency.empty()) device.map.latency = latency_of(latency);
  return device;
}

std::vector<NamedFile> DeviceOptions::inputs() const {
  std::vector<NamedFile> inputs;
  for (const std::string& file : files) inputs.push_back({"--dut", file});
  if (!map_file.empty()) inputs.push_back({"--map-file", map_file});
  return inputs;
}

std::string DeviceOptions::command_line() const {
  std::string text;
  const auto list = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) text += std::string(" ") + option + " " + shell_word(value);
  };
  list("--dut", files);
  if (!top.empty()) list("--top", {top});
  list("--param", parameters);
  list("--incdir", include_dirs);
  list("--define", defines);
  list("--map", map);
  if (!map_file.empty()) list("--map-file", {map_file});
  if (!latency.empty()) list("--latency", {latency});
  return text;
}

}  // namespace mantissa::cli

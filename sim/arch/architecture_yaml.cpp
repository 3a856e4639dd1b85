#include "sim/arch/architecture_yaml.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sim/support/sha256.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa {
namespace {

using Bounds = ArchitectureLimits;
constexpr std::int64_t zero = 0;
constexpr std::int64_t one = 1;

// At least one window of one tile of 8-bit elements must fit half a buffer, or nothing can run. Wider
// elements are looked at GEMM by GEMM.
void check_window_fits(const char* key, std::int64_t buffer_bytes, std::int64_t side, const char* side_name,
                       int window) {
  const std::int64_t needed = 2 * side * window;
  if (buffer_bytes < needed) {
    throw std::invalid_argument(std::string(key) + ": " + std::to_string(buffer_bytes) +
                                " bytes are too few for one tile: two halves of " + side_name +
                                " x window = " + std::to_string(side) + " x " + std::to_string(window) +
                                " bytes need " + std::to_string(needed));
  }
}

}  // namespace

Architecture read_architecture(const YamlDocument& document) {
  Architecture arch;
  YamlMap root(document, "architecture");
  root.require("name");
  root.read("name", arch.name);
  root.read_with("dataflow", arch.dataflow, [](const std::string& text) { return parse_dataflow(text); });
  root.read("rows", arch.rows, {1, Bounds::side});
  root.read("cols", arch.cols, {1, Bounds::side});
  root.read("window", arch.window, {1, Bounds::window});
  root.read("depth", arch.depth, {1, Bounds::depth});
  root.read("port", arch.port, {1, Bounds::window});
  root.read("skip_gradients", arch.skip_gradients);
  root.read("skip_forward", arch.skip_forward);
  root.read("pipe_latency", arch.pipe_latency, {0, Bounds::pipe_latency});
  root.read("acc_double_buffer", arch.acc_double_buffer);
  root.read("a_buffer_bytes", arch.a_buffer_bytes, {one, Bounds::buffer_bytes});
  root.read("b_buffer_bytes", arch.b_buffer_bytes, {one, Bounds::buffer_bytes});
  root.read("dram_latency_cycles", arch.dram_latency_cycles, {zero, Bounds::dram_latency_cycles});
  root.read("dram_burst_bytes", arch.dram_burst_bytes, {one, Bounds::dram_burst_bytes});
  std::int64_t burst_cycles = arch.dram_burst_cycles.numerator;
  root.read("dram_burst_cycles", burst_cycles, {one, Bounds::dram_burst_cycles});
  arch.dram_burst_cycles = burst_cycles;
  root.read("norm_lanes", arch.norm_lanes, {1, Bounds::side});
  root.read("clock_mhz", arch.clock_mhz, {Bounds::min_clock_mhz, Bounds::max_clock_mhz});
  root.read("energy", arch.energy);
  root.finish();
  root.checked([&] {
    check_window_fits("a_buffer_bytes", arch.a_buffer_bytes, arch.rows, "rows", arch.window);
    check_window_fits("b_buffer_bytes", arch.b_buffer_bytes, arch.cols, "cols", arch.window);
    arch.check();
  });
  return arch;
}

Architecture parse_architecture(std::string_view text, const std::string& file) {
  return read_architecture(YamlDocument(text, file));
}

Loaded<Architecture> load_architecture(const std::string& name_or_path) {
  const ConfigFile file = find_config(ConfigKind::architecture, name_or_path);
  const YamlDocument document(file.text, file.path.string());
  Loaded<Architecture> loaded{read_architecture(document), sha256(file.text), file.origin};
  std::string& energy = loaded.value.energy;
  if (is_config_path(energy) && std::filesystem::path(energy).is_relative())
    energy = (file.path.parent_path() / energy).string();
  // Whoever loads the table knows nothing of this file any more.
  const YamlNode& root = document.root();
  const auto key = std::find(root.keys.begin(), root.keys.end(), "energy");
  if (key == root.keys.end()) return loaded;
  try {
    (void)find_config(ConfigKind::energy, energy);
  } catch (const std::invalid_argument& error) {
    document.refuse(root.key_lines[static_cast<std::size_t>(key - root.keys.begin())],
                    std::string("energy: ") + error.what());
  }
  return loaded;
}

}  // namespace mantissa

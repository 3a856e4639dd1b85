#include "sim/arch/architecture_yaml.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sim/support/quantity.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/user_text.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa {
namespace {

using Bounds = ArchitectureLimits;

// At least one window of one tile of 8-bit elements must fit half a buffer of the first machine, or nothing
// can run. Wider elements are looked at GEMM by GEMM.
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

// Keys of files before version 0.3, which counted DRAM's times in cycles of the array.
void refuse_old_keys(const YamlDocument& document, const YamlMap& root) {
  static constexpr std::pair<const char*, const char*> old_keys[] = {
      {"a_buffer_bytes", "a_buffer: 64KiB"},          {"b_buffer_bytes", "b_buffer: 64KiB"},
      {"dram_latency_cycles", "dram_latency: 80ns"},  {"dram_burst_bytes", "dram_burst: 64B"},
      {"dram_burst_cycles", "dram_bandwidth: 4GB/s"}, {"clock_mhz", "clock: 500MHz"}};
  for (const auto& [key, example] : old_keys) {
    const std::vector<std::string>& keys = document.root().keys;
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      root.refuse(key, std::string(key) + " has been replaced; write it with a unit, such as " + example);
  }
}

// A number with a unit, within limits that are shown in that unit.
void read_quantity(YamlMap& root, const char* key, std::int64_t& value, Unit unit,
                   Limits<std::int64_t> limits) {
  const auto parse = [&](const std::string& text) {
    const std::int64_t number = parse_quantity(text, unit);
    if (number < limits.min || number > limits.max) {
      throw std::invalid_argument(in_quotes(text) + " is out of range; allowed: " +
                                  quantity_text(limits.min, unit) + ".." + quantity_text(limits.max, unit));
    }
    return number;
  };
  root.read_with(key, value, parse, [unit](std::int64_t number) { return quantity_text(number, unit); });
}

void read_mapping(YamlMap& root, Architecture& arch) {
  root.read_word<Mapping>(
      "mapping", arch.mapping,
      {{"simple", Mapping::simple}, {"auto", Mapping::automatic}, {"given", Mapping::given}});
  BlockMapping& blocks = arch.blocks;
  const bool given = arch.mapping == Mapping::given;
  for (const char* key : {"block_order", "m_block", "n_block", "k_block"}) {
    if (root.has(key) == given) continue;
    if (given) root.refuse("mapping", std::string("mapping: given needs ") + key);
    root.refuse(key, std::string(key) + " goes with mapping: given");
  }
  if (!given) return;
  root.read_word<BlockOrder>("block_order", blocks.order,
                             {{"m-outside", BlockOrder::m_outside}, {"n-outside", BlockOrder::n_outside}});
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  root.read("m_block", blocks.m_block, Limits<std::int64_t>{1, largest});
  root.read("n_block", blocks.n_block, Limits<std::int64_t>{1, largest});
  root.read("k_block", blocks.k_block, Limits<std::int64_t>{1, largest});
}

// Clock and DRAM, which are given in seconds, in cycles.
void read_times(YamlMap& root, Architecture& arch) {
  std::int64_t hertz = 500'000'000;
  std::int64_t latency = 80'000;  // ps
  std::int64_t bandwidth = 4'000'000'000;
  read_quantity(root, "clock", hertz, Unit::hertz, {1000, 1'000'000'000'000});
  read_quantity(root, "dram_latency", latency, Unit::picoseconds, {0, 1'000'000'000});
  read_quantity(root, "dram_burst", arch.dram_burst_bytes, Unit::bytes, {1, Bounds::dram_burst_bytes});
  read_quantity(root, "dram_bandwidth", bandwidth, Unit::bytes_per_second, {1000, 1'000'000'000'000'000});
  arch.clock_mhz = static_cast<double>(hertz) / 1e6;
  const auto cycles = (static_cast<__int128>(latency) * hertz + 999'999'999'999) / 1'000'000'000'000;
  arch.dram_latency_cycles = static_cast<std::int64_t>(cycles);
  const __int128 scaled = static_cast<__int128>(arch.dram_burst_bytes) * hertz;
  const auto common =
      static_cast<__int128>(std::gcd(static_cast<std::int64_t>(scaled % bandwidth), bandwidth));
  arch.dram_burst_cycles =
      Ratio(static_cast<std::int64_t>(scaled / common), static_cast<std::int64_t>(bandwidth / common));
}

}  // namespace

Architecture read_architecture(const YamlDocument& document) {
  Architecture arch;
  YamlMap root(document, "architecture");
  refuse_old_keys(document, root);
  root.require("name");
  root.read("name", arch.name);
  root.read_with(
      "dataflow", arch.dataflow, [](const std::string& text) { return parse_dataflow(text); },
      [](Dataflow dataflow) { return std::string(name_of(dataflow)); });
  read_mapping(root, arch);
  root.read("rows", arch.rows, {1, Bounds::side});
  root.read("cols", arch.cols, {1, Bounds::side});
  root.read("window", arch.window, {1, Bounds::window});
  root.read("depth", arch.depth, {1, Bounds::depth});
  root.read("port", arch.port, {1, Bounds::window});
  root.read("skip_gradients", arch.skip_gradients);
  root.read("skip_forward", arch.skip_forward);
  root.read("pipe_latency", arch.pipe_latency, {0, Bounds::pipe_latency});
  root.read("acc_double_buffer", arch.acc_double_buffer);
  root.read("sum_rows", arch.sum_rows, {1, Bounds::side});
  arch.fp32_macs_per_cycle = arch.cols;
  // Utilization is a share of the array, whoever multiplies.
  root.read("fp32_macs_per_cycle", arch.fp32_macs_per_cycle, {1, arch.rows * arch.cols});
  read_quantity(root, "a_buffer", arch.a_buffer_bytes, Unit::bytes, {1, Bounds::buffer_bytes});
  read_quantity(root, "b_buffer", arch.b_buffer_bytes, Unit::bytes, {1, Bounds::buffer_bytes});
  read_quantity(root, "c_buffer", arch.c_buffer_bytes, Unit::bytes, {1, Bounds::buffer_bytes});
  read_times(root, arch);
  root.read("dram_outstanding", arch.dram_outstanding, {1, Bounds::outstanding});
  root.read_word<GradientStorage>("gradient_storage", arch.gradient_storage,
                                  {{"dense", GradientStorage::dense}, {"packed", GradientStorage::packed}});
  root.read_word<NormFusion>("norm_fusion", arch.norm_fusion,
                             {{"none", NormFusion::none}, {"drain", NormFusion::drain}});
  root.read("update_lanes", arch.update_lanes, {0, Bounds::side});
  root.read("norm_lanes", arch.norm_lanes, {1, Bounds::side});
  root.read("energy", arch.energy);
  root.finish();
  root.checked([&] {
    if (!arch.in_blocks()) {
      check_window_fits("a_buffer", arch.a_buffer_bytes, arch.rows, "rows", arch.window);
      check_window_fits("b_buffer", arch.b_buffer_bytes, arch.cols, "cols", arch.window);
    }
    arch.check();
  });
  return arch;
}

Architecture parse_architecture(std::string_view text, const std::string& file) {
  return read_architecture(YamlDocument(text, file));
}

std::vector<std::string> architecture_keys() {
  const YamlDocument document("name: none\n", "");
  read_architecture(document);
  return document.top_keys_asked();
}

Loaded<Architecture> load_architecture(const std::string& name_or_path,
                                       const std::vector<Setting>& settings) {
  const ConfigFile file = find_config(ConfigKind::architecture, name_or_path);
  YamlDocument document(file.text, file.path.string());
  for (const Setting& setting : settings) document.set(setting.key, setting.value);
  Loaded<Architecture> loaded{read_architecture(document), sha256(file.text), file.origin};
  for (const auto& [key, value] : document.values_read()) loaded.keys.push_back({key, value});
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

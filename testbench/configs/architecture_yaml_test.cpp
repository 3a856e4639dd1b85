// Architectures from YAML.
#include "sim/arch/architecture_yaml.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

Architecture parse(const std::string& text) { return parse_architecture(text, "mine.yaml"); }
std::string refused_architecture(const std::string& text) {
  return refusal([&] { parse(text); });
}

TEST(ArchitectureYaml, EveryKeyArrives) {
  const Architecture arch = parse(R"(name: mine
dataflow: scalesim-ws
rows: 3
cols: 5
window: 7
depth: 9
port: 2
skip_gradients: false
skip_forward: true
pipe_latency: 11
acc_double_buffer: true
a_buffer_bytes: 1000
b_buffer_bytes: 2000
dram_latency_cycles: 13
dram_burst_bytes: 32
dram_burst_cycles: 4
norm_lanes: 6
clock_mhz: 812.5
energy: aladdin40
)");
  EXPECT_EQ(arch.name, "mine");
  EXPECT_EQ(arch.dataflow, Dataflow::scalesim_ws);
  EXPECT_EQ(arch.rows, 3);
  EXPECT_EQ(arch.cols, 5);
  EXPECT_EQ(arch.window, 7);
  EXPECT_EQ(arch.depth, 9);
  EXPECT_EQ(arch.port, 2);
  EXPECT_FALSE(arch.skip_gradients);
  EXPECT_TRUE(arch.skip_forward);
  EXPECT_EQ(arch.pipe_latency, 11);
  EXPECT_TRUE(arch.acc_double_buffer);
  EXPECT_EQ(arch.a_buffer_bytes, 1000);
  EXPECT_EQ(arch.b_buffer_bytes, 2000);
  EXPECT_EQ(arch.dram_latency_cycles, 13);
  EXPECT_EQ(arch.dram_burst_bytes, 32);
  EXPECT_EQ(arch.dram_burst_cycles, 4);
  EXPECT_EQ(arch.norm_lanes, 6);
  EXPECT_EQ(arch.clock_mhz, 812.5);
  EXPECT_EQ(arch.energy, "aladdin40");
}

TEST(ArchitectureYaml, ShippedOnes) {
  const Architecture edge = load_architecture("edge").value;
  EXPECT_EQ(edge.rows, 16);
  EXPECT_EQ(edge.cols, 16);
  EXPECT_EQ(edge.peak_macs_per_second(), 128e9);
  const Architecture large = load_architecture("datacentre").value;
  EXPECT_EQ(large.peak_macs_per_second(), 16384e9);
  for (const std::string& name : shipped_configs(ConfigKind::architecture)) {
    const Loaded<Architecture> loaded = load_architecture(name);
    EXPECT_EQ(loaded.value.name, name);
    EXPECT_EQ(loaded.origin, name);
    EXPECT_EQ(loaded.hash.size(), 64U);
    EXPECT_NO_THROW(find_config(ConfigKind::energy, loaded.value.energy));
  }
}

TEST(ArchitectureYaml, ImpossibleMachinesAreRefused) {
  const struct {
    std::string line;
    std::string message;
  } cases[] = {
      {"rows: 0", "mine.yaml:2: rows"},
      {"cols: -1", "mine.yaml:2: cols"},
      {"rows: 1000000", "mine.yaml:2: rows"},
      {"window: 0", "mine.yaml:2: window"},
      {"port: 0", "mine.yaml:2: port"},
      {"depth: 0", "mine.yaml:2: depth"},
      {"pipe_latency: -1", "mine.yaml:2: pipe_latency"},
      {"dram_burst_bytes: 0", "mine.yaml:2: dram_burst_bytes"},
      {"dram_burst_cycles: 0", "mine.yaml:2: dram_burst_cycles"},
      {"norm_lanes: 0", "mine.yaml:2: norm_lanes"},
      {"clock_mhz: 0", "mine.yaml:2: clock_mhz"},
      {"clock_mhz: inf", "mine.yaml:2: clock_mhz"},
      {"a_buffer_bytes: 0", "mine.yaml:2: a_buffer_bytes"},
      {"a_buffer_bytes: 511",
       "mine.yaml:2: a_buffer_bytes: 511 bytes are too few for one tile: two halves of rows x window = 16 x "
       "16 "
       "bytes need 512"},
      {"b_buffer_bytes: 511", "mine.yaml:2: b_buffer_bytes: 511 bytes are too few for one tile: two halves"},
      {"a_buffer_bytes: 512", "(accepted)"},
      {"a_buffer_bytes: 64 KiB", "mine.yaml:2: a_buffer_bytes is '64 KiB'; it must be a whole number"},
      {"dataflow: ws", "mine.yaml:2: dataflow: unknown dataflow 'ws'"},
      {"skip_forward: 1", "mine.yaml:2: skip_forward is '1'; allowed: true, false"},
      {"row: 4", "mine.yaml:2: unknown key 'row' in 'architecture'; allowed: name, dataflow, rows, cols"},
  };
  for (const auto& [line, message] : cases) {
    const std::string said = refused_architecture(std::string("name: mine\n").append(line).append("\n"));
    EXPECT_EQ(said.substr(0, message.size()), message) << "for: " << line << "\nsaid: " << said;
  }
  EXPECT_EQ(refused_architecture("rows: 4\n"), "mine.yaml:1: 'architecture' needs a key 'name'");
}

// A file may say all that a program may, and nothing else.
TEST(ArchitectureYaml, LimitsAreThoseOfTheArchitecture) {
  const struct {
    std::string key;
    double largest;
    std::function<void(Architecture&, double)> set;
  } keys[] = {
      {"window", 65535, [](Architecture& arch, double value) { arch.window = static_cast<int>(value); }},
      {"depth", 1024, [](Architecture& arch, double value) { arch.depth = static_cast<int>(value); }},
      {"port", 65535, [](Architecture& arch, double value) { arch.port = static_cast<int>(value); }},
      {"pipe_latency", 1024,
       [](Architecture& arch, double value) { arch.pipe_latency = static_cast<int>(value); }},
      {"dram_burst_cycles", 4096,
       [](Architecture& arch, double value) { arch.dram_burst_cycles = static_cast<std::int64_t>(value); }},
      {"dram_latency_cycles", 1048576,
       [](Architecture& arch, double value) { arch.dram_latency_cycles = static_cast<std::int64_t>(value); }},
      {"clock_mhz", 1000000, [](Architecture& arch, double value) { arch.clock_mhz = value; }},
  };
  for (const auto& [key, largest, set] : keys) {
    for (const double value : {largest, largest + 1}) {
      Architecture arch;
      arch.a_buffer_bytes = arch.b_buffer_bytes = 1 << 30;
      set(arch, value);
      const bool sound = value == largest;
      EXPECT_EQ(refusal([&] { arch.check(); }) == "(accepted)", sound) << key << " " << value;
      const std::string said =
          refused_architecture("name: mine\na_buffer_bytes: 1073741824\nb_buffer_bytes: 1073741824\n" + key +
                               ": " + std::to_string(static_cast<std::int64_t>(value)) + "\n");
      EXPECT_EQ(said.substr(0, 13 + key.size()), sound ? "(accepted)" : "mine.yaml:4: " + key) << said;
    }
  }
}

TEST(ArchitectureYaml, ARelativeEnergyTableStartsAtTheFile) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/mine.yaml";
  const auto energy = [&](const std::string& value) {
    std::ofstream(path) << "name: mine\nenergy: " << value << "\n";
    return load_architecture(path).value.energy;
  };
  const std::string table = scratch.path() + "/my.yaml";
  std::ofstream(table) << "name: my\n";
  EXPECT_EQ(energy("my.yaml"), table);
  EXPECT_EQ(energy(table), table);
  EXPECT_EQ(energy("horowitz45"), "horowitz45");
  // A table that does not exist is a fault of this line.
  EXPECT_EQ(refusal([&] { energy("nosuch"); }).substr(0, path.size() + 43),
            path + ":2: energy: unknown energy table 'nosuch'; ");
  EXPECT_EQ(refusal([&] { energy("none.yaml"); }),
            path + ":2: energy: cannot read " + scratch.path() + "/none.yaml: no such file");
}

}  // namespace
}  // namespace mantissa::test

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
dataflow: os-skip
mapping: given
block_order: n-outside
m_block: 6
n_block: 10
k_block: 7
rows: 3
cols: 5
window: 7
depth: 9
port: 2
skip_gradients: false
skip_forward: true
pipe_latency: 11
acc_double_buffer: true
sum_rows: 2
fp32_macs_per_cycle: 4
a_buffer: 1000B
b_buffer: 2kB
c_buffer: 3KiB
dram_bandwidth: 1.3GB/s
dram_latency: 16.1 ns
dram_burst: 32B
dram_outstanding: 3
norm_lanes: 6
clock: 812.5MHz
energy: aladdin40
)");
  EXPECT_EQ(arch.name, "mine");
  EXPECT_EQ(arch.dataflow, Dataflow::os_skip);
  EXPECT_EQ(arch.mapping, Mapping::given);
  EXPECT_EQ(arch.blocks, (BlockMapping{BlockOrder::n_outside, 6, 10, 7}));
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
  EXPECT_EQ(arch.c_buffer_bytes, 3072);
  EXPECT_EQ(arch.sum_rows, 2);
  EXPECT_EQ(arch.fp32_macs_per_cycle, 4);
  EXPECT_EQ(arch.dram_outstanding, 3);
  EXPECT_EQ(arch.dram_latency_cycles, 14);  // 13.08 cycles of 812.5 MHz, rounded up
  EXPECT_EQ(arch.dram_burst_bytes, 32);
  EXPECT_EQ(arch.dram_burst_cycles.value(), 20);  // 32 bytes in 24.6 ns
  EXPECT_EQ(arch.dram_burst_cycles.denominator, 1);
  EXPECT_EQ(arch.norm_lanes, 6);
  EXPECT_EQ(arch.clock_mhz, 812.5);
  EXPECT_EQ(arch.energy, "aladdin40");
}

// DRAM is in seconds: a faster clock waits for more cycles, which need not be whole.
TEST(ArchitectureYaml, AFasterClockDoesNotSpeedUpMemory) {
  const Architecture slow =
      parse("name: s\nclock: 500MHz\ndram_bandwidth: 4GB/s\ndram_burst: 64B\ndram_latency: 80ns\n");
  const Architecture fast =
      parse("name: f\nclock: 700MHz\ndram_bandwidth: 4GB/s\ndram_burst: 64B\ndram_latency: 80ns\n");
  EXPECT_EQ(slow.dram_latency_cycles, 40);
  EXPECT_EQ(fast.dram_latency_cycles, 56);
  EXPECT_EQ(slow.data_cycles(640), 80);
  EXPECT_EQ(fast.data_cycles(640), 112);
  EXPECT_EQ(fast.data_cycles(1), 12);  // one burst: 11.2
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
      {"dram_burst: 0B", "mine.yaml:2: dram_burst: '0B' is out of range; allowed: 1B..1MiB"},
      {"dram_bandwidth: 0GB/s",
       "mine.yaml:2: dram_bandwidth: '0GB/s' is out of range; allowed: 1kB/s..1000TB/s"},
      {"dram_bandwidth: 4", "mine.yaml:2: dram_bandwidth: '4' is not a number with a unit, such as 4GB/s"},
      {"norm_lanes: 0", "mine.yaml:2: norm_lanes"},
      {"clock: 0MHz", "mine.yaml:2: clock: '0MHz' is out of range; allowed: 1kHz.."},
      {"clock: fast", "mine.yaml:2: clock: 'fast' is not a number with a unit, such as 500MHz"},
      {"clock: 1.5Hz", "mine.yaml:2: clock: '1.5Hz' is not"},
      {"clock_mhz: 500",
       "mine.yaml:2: clock_mhz has been replaced; write it with a unit, such as clock: 500MHz"},
      {"a_buffer_bytes: 512",
       "mine.yaml:2: a_buffer_bytes has been replaced; write it with a unit, such as a_buffer: 64KiB"},
      {"dram_burst_cycles: 8", "mine.yaml:2: dram_burst_cycles has been replaced"},
      {"m_block: 64", "mine.yaml:2: m_block goes with mapping: given"},
      {"mapping: given", "mine.yaml:2: mapping: given needs block_order"},
      {"mapping: given\nblock_order: m-outside\nm_block: 17\nn_block: 16\nk_block: 4",
       "mine.yaml:2: mapping: m_block 17 and n_block 16 must be multiples of rows 16 and cols 16; 32 and 16 "
       "are"},
      {"norm_fusion: drain", "mine.yaml:2: norm_fusion: drain contradicts mapping: simple"},
      {"gradient_storage: packed", "mine.yaml:2: gradient_storage: packed contradicts mapping: simple"},
      {"update_lanes: 4",
       "mine.yaml:2: update_lanes: 4 contradicts mapping: simple, whose machine has no such thing; allowed "
       "there: 0"},
      {"mapping: auto\nnorm_fusion: drain\ngradient_storage: packed\nupdate_lanes: 4", "(accepted)"},
      {"mapping: best", "mine.yaml:2: mapping is 'best'; allowed: simple, auto, given"},
      {"a_buffer: 0B", "mine.yaml:2: a_buffer"},
      {"a_buffer: 511B",
       "mine.yaml:2: a_buffer: 511 bytes are too few for one tile: two halves of rows x window = 16 x "
       "16 "
       "bytes need 512"},
      {"b_buffer: 511B", "mine.yaml:2: b_buffer: 511 bytes are too few for one tile: two halves"},
      {"a_buffer: 512 B", "(accepted)"},
      {"a_buffer: 64 kb", "mine.yaml:2: a_buffer: '64 kb' is not a number with a unit, such as 64KiB"},
      {"dataflow: ws", "mine.yaml:2: dataflow: unknown dataflow 'ws'"},
      {"rows: 2\ncols: 3\nfp32_macs_per_cycle: 6", "(accepted)"},
      {"rows: 2\ncols: 3\nfp32_macs_per_cycle: 7", "mine.yaml:4: fp32_macs_per_cycle"},
      {"skip_forward: 1", "mine.yaml:2: skip_forward is '1'; allowed: true, false"},
      {"row: 4", "mine.yaml:2: unknown key 'row' in 'architecture'; allowed: "},
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
      {"sum_rows", 4096, [](Architecture& arch, double value) { arch.sum_rows = static_cast<int>(value); }},
      {"dram_outstanding", 1024,
       [](Architecture& arch, double value) { arch.dram_outstanding = static_cast<int>(value); }},
  };
  for (const auto& [key, largest, set] : keys) {
    for (const double value : {largest, largest + 1}) {
      Architecture arch;
      arch.a_buffer_bytes = arch.b_buffer_bytes = 1 << 30;
      set(arch, value);
      const bool sound = value == largest;
      EXPECT_EQ(refusal([&] { arch.check(); }) == "(accepted)", sound) << key << " " << value;
      const std::string said =
          refused_architecture("name: mine\na_buffer: 1GiB\nb_buffer: 1GiB\n" + key + ": " +
                               std::to_string(static_cast<std::int64_t>(value)) + "\n");
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

// The closed form of a GEMM's cycles: the worked example, cases of another program, and a walk through every
// cycle of random machines.
#include "sim/arch/gemm_cycles.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

namespace mantissa::test {
namespace {

// Counts of '1' per row and window.
std::vector<std::uint16_t> counts_of(const std::vector<std::string>& rows, int window) {
  std::vector<std::uint16_t> counts;
  for (const std::string& row : rows) {
    for (std::size_t first = 0; first < row.size(); first += static_cast<std::size_t>(window)) {
      const std::string part = row.substr(first, static_cast<std::size_t>(window));
      counts.push_back(static_cast<std::uint16_t>(std::count(part.begin(), part.end(), '1')));
    }
  }
  return counts;
}

Architecture example_machine() {
  Architecture arch;
  arch.rows = arch.cols = 2;
  arch.window = 4;
  arch.depth = arch.port = 2;
  arch.pipe_latency = 2;
  arch.a_buffer_bytes = arch.b_buffer_bytes = 64;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  return arch;
}
const GemmShape example_shape{.m = 4, .n = 3, .k = 8};
const std::vector<std::string> example_rows = {"11100010", "01010001", "10000000", "11110110"};

TEST(GemmCycles, WorkedExample) {
  const auto counts = counts_of(example_rows, 4);
  Architecture arch = example_machine();
  EXPECT_EQ(gemm_cycles(arch, example_shape, true, counts), (GemmCycles{.compute = 28,
                                                                        .stall_load = 27,
                                                                        .stall_write_back = 7,
                                                                        .stall_drain = 16,
                                                                        .dram_bytes = 68,
                                                                        .dram_bytes_unique = 32 + 24 + 12,
                                                                        .sram_bytes = 156,
                                                                        .a_taken = 28,
                                                                        .b_staged = 48,
                                                                        .drained = 12,
                                                                        .macs = 14 * 3,
                                                                        .skipped = 96 - 42,
                                                                        .tiles = 4,
                                                                        .steps = 4}));
  EXPECT_EQ(gemm_cycles(arch, example_shape, true, counts).cycles(), 78U);
  const GemmCycles dense = gemm_cycles(arch, example_shape, false, {});
  EXPECT_EQ(dense.cycles(), 86U);
  EXPECT_EQ(dense.compute, 40U);
  EXPECT_EQ(dense.skipped, 0U);
  arch.acc_double_buffer = true;
  const GemmCycles two_sets = gemm_cycles(arch, example_shape, true, counts);
  EXPECT_EQ(two_sets.cycles(), 74U);
  EXPECT_EQ(two_sets.compute, 28U);
  EXPECT_EQ(two_sets.stall_load, 32U);
  EXPECT_EQ(two_sets.stall_write_back, 10U);
  EXPECT_EQ(two_sets.stall_drain, 4U);
}

TEST(GemmCycles, CasesOfAnotherProgram) {
  std::ifstream file(MANTISSA_TEST_DATA "/array_cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  EXPECT_EQ(cases.size(), 60U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const nlohmann::json& one = cases[i];
    const nlohmann::json& machine = one.at("arch");
    Architecture arch;
    arch.rows = machine.at("rows");
    arch.cols = machine.at("cols");
    arch.window = machine.at("window");
    arch.depth = machine.at("depth");
    arch.port = machine.at("port");
    arch.pipe_latency = machine.at("pipe_latency");
    arch.acc_double_buffer = machine.at("acc_double_buffer");
    arch.a_buffer_bytes = machine.at("a_buffer");
    arch.b_buffer_bytes = machine.at("b_buffer");
    arch.dram_latency_cycles = machine.at("dram_latency");
    arch.dram_burst_bytes = machine.at("burst_bytes");
    arch.dram_burst_cycles = machine.at("burst_cycles");
    const GemmShape shape{.m = one.at("M"),
                          .n = one.at("N"),
                          .k = one.at("K"),
                          .a_bits = 8 * machine.at("a_elem").get<int>(),
                          .b_bits = 8 * machine.at("b_elem").get<int>(),
                          .c_bits = 8 * machine.at("c_elem").get<int>()};
    const auto counts = counts_of(one.at("a_nonzero").get<std::vector<std::string>>(), arch.window);
    const GemmCycles cost = gemm_cycles(arch, shape, machine.at("skip"), counts);
    EXPECT_EQ(cost.cycles(), one.at("cycles")) << "case " << i;
    EXPECT_EQ(cost.compute, one.at("compute")) << "case " << i;
    EXPECT_EQ(cost.stall_load, one.at("stall_load")) << "case " << i;
    EXPECT_EQ(cost.stall_write_back, one.at("stall_write_back")) << "case " << i;
    EXPECT_EQ(cost.stall_drain, one.at("stall_drain")) << "case " << i;
    EXPECT_EQ(cost.dram_bytes, one.at("dram_bytes")) << "case " << i;
  }
}

}  // namespace
}  // namespace mantissa::test

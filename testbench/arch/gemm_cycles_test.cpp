// The closed form of a GEMM's cycles: the worked example, cases of another program, and a walk through every
// cycle of random machines.
#include "sim/arch/gemm_cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

#include "testbench/arch/cycle_walk.hpp"
#include "testbench/arch/example_machine.hpp"
#include "testbench/arch/timeline_sums.hpp"

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
                                                                        .macs = 42,
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
    arch.dram_burst_cycles = machine.at("burst_cycles").get<std::int64_t>();
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

struct RandomGemm {
  Architecture arch;
  GemmShape shape;
  bool skip = true;
  std::vector<std::string> rows;
};

// Small machines in which everything can get in the way of everything else.
RandomGemm random_gemm(std::mt19937_64& engine) {
  const auto pick = [&](std::initializer_list<int> from) { return from.begin()[engine() % from.size()]; };
  const auto up_to = [&](int max) { return 1 + static_cast<int>(engine() % static_cast<unsigned>(max)); };
  RandomGemm gemm;
  Architecture& arch = gemm.arch;
  arch.rows = pick({1, 2, 3, 4, 8});
  arch.cols = pick({1, 2, 3, 4, 8});
  arch.window = pick({1, 3, 4, 8, 16});
  arch.depth = up_to(4);
  arch.port = pick({1, 2, 3, 4, 16});
  arch.pipe_latency = pick({0, 1, 2, 5});
  arch.acc_double_buffer = engine() % 2 == 0;
  arch.dram_latency_cycles = pick({0, 1, 7, 40});
  arch.dram_burst_bytes = pick({1, 4, 16, 64});
  arch.dram_burst_cycles = pick({1, 3, 8});
  gemm.shape = {.m = up_to(3 * arch.rows + 1),
                .n = up_to(3 * arch.cols + 1),
                .k = up_to(pick({4, 40, 100})),
                .a_bits = pick({4, 6, 8, 16, 32}),
                .b_bits = pick({5, 8, 16}),
                .c_bits = pick({7, 8, 16, 32})};
  // From one window in half a buffer to far more than everything.
  const auto buffer = [&](int side, int bits) {
    const int window = (side * arch.window * bits + 7) / 8;
    return 2 * window * up_to(pick({1, 3, 20})) + static_cast<int>(engine() % 3);
  };
  arch.a_buffer_bytes = buffer(arch.rows, gemm.shape.a_bits);
  arch.b_buffer_bytes = buffer(arch.cols, gemm.shape.b_bits);
  gemm.skip = engine() % 4 != 0;
  std::bernoulli_distribution nonzero(static_cast<double>(engine() % 11) / 10);
  for (std::int64_t row = 0; row < gemm.shape.m; ++row) {
    std::string& text = gemm.rows.emplace_back();
    for (std::int64_t k = 0; k < gemm.shape.k; ++k) text += nonzero(engine) ? '1' : '0';
  }
  return gemm;
}

std::string text_of(const GemmCycles& c) {
  const nlohmann::ordered_json json{
      {"compute", c.compute},   {"load", c.stall_load}, {"write-back", c.stall_write_back},
      {"drain", c.stall_drain}, {"dram", c.dram_bytes}, {"unique", c.dram_bytes_unique},
      {"sram", c.sram_bytes},   {"a", c.a_taken},       {"b", c.b_staged},
      {"c", c.drained},         {"macs", c.macs},       {"skipped", c.skipped},
      {"tiles", c.tiles},       {"steps", c.steps}};
  return json.dump();
}

TEST(GemmCycles, AgreesWithAWalkThroughEveryCycle) {
  std::mt19937_64 engine(7);
  std::array<int, 3> stalled{};  // machines that knew each cause
  int segmented = 0;
  for (int i = 0; i < 4000; ++i) {
    const RandomGemm gemm = random_gemm(engine);
    const GemmCycles walked = walk_every_cycle(gemm.arch, gemm.shape, gemm.skip, gemm.rows);
    TimelineRecorder recorder(1 << 20);
    const GemmCycles closed =
        gemm_cycles(gemm.arch, gemm.shape, gemm.skip, counts_of(gemm.rows, gemm.arch.window), &recorder);
    ASSERT_EQ(text_of(closed), text_of(walked)) << "machine " << i;
    expect_sums(recorder.result(), walked);
    expect_order(recorder.result());
    ASSERT_FALSE(testing::Test::HasFailure()) << "machine " << i;
    stalled[0] += closed.stall_load > 0 ? 1 : 0;
    stalled[1] += closed.stall_write_back > 0 ? 1 : 0;
    stalled[2] += closed.stall_drain > 0 ? 1 : 0;
    segmented += closed.steps > closed.tiles ? 1 : 0;
  }
  for (const int machines : stalled) EXPECT_GT(machines, 1000);
  EXPECT_GT(segmented, 1000);
}

TEST(GemmCycles, SkippingOffLooksAtNoCounts) {
  const Architecture arch = example_machine();
  const std::vector<std::uint16_t> full(8, 4);
  GemmCycles all_taken = gemm_cycles(arch, example_shape, true, full);
  EXPECT_EQ(all_taken, gemm_cycles(arch, example_shape, false, {}));
}

TEST(GemmCycles, SumsEveryField) {
  const auto counts = counts_of(example_rows, 4);
  const GemmCycles one = gemm_cycles(example_machine(), example_shape, true, counts);
  GemmCycles sum = one;
  sum += one;
  EXPECT_EQ(sum.cycles(), 156U);
  EXPECT_EQ(text_of(sum), text_of({.compute = 56,
                                   .stall_load = 54,
                                   .stall_write_back = 14,
                                   .stall_drain = 32,
                                   .dram_bytes = 136,
                                   .dram_bytes_unique = 136,
                                   .sram_bytes = 312,
                                   .a_taken = 56,
                                   .b_staged = 96,
                                   .drained = 24,
                                   .macs = 84,
                                   .skipped = 108,
                                   .tiles = 8,
                                   .steps = 8}));
}

void expect_refused(const Architecture& arch, const GemmShape& shape, bool skip,
                    const std::vector<std::uint16_t>& counts, const std::string& words) {
  try {
    gemm_cycles(arch, shape, skip, counts);
    ADD_FAILURE() << "not refused: " << words;
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(GemmCycles, RefusesWhatDoesNotFit) {
  const Architecture arch = example_machine();
  const std::vector<std::uint16_t> counts(8);
  expect_refused(arch, example_shape, true, {}, "8 non-zero counts");
  expect_refused(arch, example_shape, true, std::vector<std::uint16_t>(9), "not 9");
  expect_refused(arch, example_shape, true, std::vector<std::uint16_t>(8, 5), "5 non-zero elements");
  expect_refused(arch, {.m = 0, .n = 1, .k = 1}, false, {}, "M 0");
  expect_refused(arch, {.m = 1, .n = -1, .k = 1}, false, {}, "N -1");
  expect_refused(arch, {.m = 1, .n = 1, .k = max_gemm_size + 1}, false, {}, "K 2147483649");
  expect_refused(arch, {.m = 1 << 20, .n = 1 << 20, .k = 1 << 20}, false, {}, "2^48");
  expect_refused(arch, {.m = 1 << 20, .n = 1 << 20, .k = 8}, false, {}, "steps");
  expect_refused(arch, {.m = 1, .n = 1, .k = 1, .a_bits = 0}, false, {}, "bits");
  expect_refused(arch, {.m = 1, .n = 1, .k = 1, .c_bits = 33}, false, {}, "33");
  Architecture small = arch;
  small.a_buffer_bytes = 15;
  expect_refused(small, example_shape, false, {}, "a_buffer 15");
  small = arch;
  small.b_buffer_bytes = 14;
  expect_refused(small, example_shape, false, {}, "b_buffer 14");
  small = arch;
  small.port = 0;
  expect_refused(small, example_shape, false, {}, "port 0");
}

TEST(GemmCycles, LargestCostsStayWithin64Bits) {
  Architecture arch;
  arch.rows = arch.cols = 1;
  arch.window = 65535;
  arch.a_buffer_bytes = arch.b_buffer_bytes = std::int64_t{1} << 40;
  arch.dram_latency_cycles = 1 << 20;
  arch.dram_burst_bytes = 1;
  arch.dram_burst_cycles = 1 << 12;
  // B does not stay: 2^17 tiles load all of its 2^48 elements, of 4 bytes each, byte by byte.
  const GemmShape shape{
      .m = 1 << 9, .n = 1 << 8, .k = max_gemm_size, .a_bits = 32, .b_bits = 32, .c_bits = 32};
  const GemmCycles cost = gemm_cycles(arch, shape, false, {});
  EXPECT_GT(cost.stall_load, std::uint64_t{1} << 61);
  EXPECT_EQ(cost.macs, std::uint64_t{1} << 48);
}

}  // namespace
}  // namespace mantissa::test

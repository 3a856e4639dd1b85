// The oracle of the second machine, held against examples that were worked out by hand from ARITHMETIC.md 7,
// "Blocks", and against what every job must obey.
#include "testbench/arch/block_walk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "testbench/arch/block_cases.hpp"

namespace mantissa::test {
namespace {

// Transfers take 6 cycles, then 1 per 4 bytes.
Architecture example_machine(int rows) {
  Architecture arch;
  arch.rows = rows;
  arch.cols = 2;
  arch.window = 4;
  arch.depth = arch.port = 2;
  arch.pipe_latency = 2;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  arch.dram_outstanding = 1;
  return arch;
}

BlockJob job_of(Pass pass, const ConvShape& shape, const Rectangle& outputs) {
  BlockJob job;
  job.shape = shape;
  job.pass = pass;
  job.outputs = outputs;
  return job;
}

// The loads overlap: A 0..8, B 0..10. Compute 10..15, sums in C at 19, drain until 23, write-back until 30.
TEST(BlockWalk, OneStep) {
  Architecture arch = example_machine(2);
  arch.dram_outstanding = 2;
  const ConvShape shape{.in_channels = 4, .out_channels = 2, .in = {1, 2}, .out = {1, 2}};
  BlockJob job = job_of(Pass::forward, shape, {.row0 = 0, .row1 = 2, .col0 = 0, .col1 = 2});
  job.skip = true;
  const BlockMapping mapping{.m_block = 2, .n_block = 2, .k_block = 4};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 0, 1, 1, 1, 0, 0, 0}), (GemmCycles{.compute = 5,
                                                                                   .stall_load = 10,
                                                                                   .stall_write_back = 7,
                                                                                   .stall_drain = 8,
                                                                                   .dram_bytes = 20,
                                                                                   .tensor_bytes = 20,
                                                                                   .sram_bytes = 68,
                                                                                   .a_taken = 4,
                                                                                   .b_staged = 8,
                                                                                   .drained = 4,
                                                                                   .sums_stored = 4,
                                                                                   .sums_loaded = 0,
                                                                                   .macs = 8,
                                                                                   .skipped = 8,
                                                                                   .tiles = 1,
                                                                                   .steps = 1}));
}

// Stride 2 along a line of 3: the phase of w = 1 has no taps, and two segments of the other share their sums.
// B holds one segment only, so its second load waits for the end of compute, 11, and ends at 18.
TEST(BlockWalk, PhaseWithoutTaps) {
  Architecture arch = example_machine(2);
  arch.window = 2;
  arch.dram_outstanding = 2;
  arch.a_buffer_bytes = 8;
  arch.b_buffer_bytes = 4;
  arch.c_buffer_bytes = 24;
  const ConvShape shape{.in_channels = 2, .out_channels = 4, .in = {1, 3}, .out = {1, 2}, .stride = {1, 2}};
  BlockJob job = job_of(Pass::input_gradient, shape, {.row0 = 0, .row1 = 3, .col0 = 0, .col1 = 2});
  job.skip = true;
  const BlockMapping mapping{.m_block = 3, .n_block = 2, .k_block = 2};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 0, 1, 1, 0, 0, 0, 1}), (GemmCycles{.compute = 3 + 2,
                                                                                   .stall_load = 8 + 7,
                                                                                   .stall_write_back = 8,
                                                                                   .stall_drain = 10,
                                                                                   .dram_bytes = 22,
                                                                                   .tensor_bytes = 22,
                                                                                   .sram_bytes = 80,
                                                                                   .a_taken = 4,
                                                                                   .b_staged = 8,
                                                                                   .drained = 6,
                                                                                   .sums_stored = 4,
                                                                                   .sums_loaded = 0,
                                                                                   .macs = 8,
                                                                                   .skipped = 8,
                                                                                   .tiles = 2,
                                                                                   .steps = 2}));
}

// Two groups in a tile, two tiles, two segments. A tile takes 4 cycles, an exchange 5: tiles 16..20, 20..24,
// 32..36, 36..40, roles change at 20, 25, 36, 41. The third and fourth tile load what the first two stored.
TEST(BlockWalk, ExchangeOfSums) {
  Architecture arch = example_machine(4);
  arch.window = arch.port = 1;
  arch.a_buffer_bytes = 20;
  arch.b_buffer_bytes = 4;
  arch.c_buffer_bytes = 40;
  const ConvShape shape{.batch = 5, .in_channels = 4, .out_channels = 2, .groups = 2};
  const BlockJob job = job_of(Pass::forward, shape, {.row0 = 0, .row1 = 5, .col0 = 0, .col1 = 2});
  const BlockMapping mapping{.m_block = 8, .n_block = 2, .k_block = 1};
  EXPECT_EQ(walk_blocks(arch, job, mapping, std::vector<std::uint8_t>(20, 1)),
            (GemmCycles{.compute = 16,
                        .stall_load = 16 + 7,
                        .stall_write_back = 9,
                        .stall_drain = 1 + 17,
                        .dram_bytes = 34,
                        .tensor_bytes = 34,
                        .sram_bytes = 232,
                        .a_taken = 20,
                        .b_staged = 8,
                        .drained = 10,
                        .sums_stored = 20,
                        .sums_loaded = 10,
                        .macs = 20,
                        .skipped = 0,
                        .tiles = 2,
                        .steps = 2}));
}

// A kernel of 3 over 4 lines, two blocks of two outputs: the second one needs one line more. With one block
// in C it waits until 34 for the first one's write-back, with two until 26 for its line.
TEST(BlockWalk, BlocksOfLines) {
  Architecture arch = example_machine(2);
  arch.a_buffer_bytes = arch.b_buffer_bytes = 3;
  arch.c_buffer_bytes = 8;
  const ConvShape shape{.in = {4, 1}, .out = {4, 1}, .kernel = {3, 1}, .padding = {1, 0}};
  const BlockJob job = job_of(Pass::forward, shape, {.row0 = 0, .row1 = 4, .col0 = 0, .col1 = 1});
  const BlockMapping mapping{.m_block = 2, .n_block = 1, .k_block = 1};
  GemmCycles expected{.compute = 5 + 5,
                      .stall_load = 14,
                      .stall_write_back = 7 + 7,
                      .stall_drain = 8 + 8,
                      .dram_bytes = 11,
                      .tensor_bytes = 11,
                      .sram_bytes = 65,
                      .a_taken = 12,
                      .b_staged = 6,
                      .drained = 4,
                      .sums_stored = 4,
                      .sums_loaded = 0,
                      .macs = 12,
                      .skipped = 0,
                      .tiles = 2,
                      .steps = 2};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), expected);

  arch.c_buffer_bytes = 16;
  expected.stall_load = 14 + 7;
  expected.stall_write_back = 7;
  expected.stall_drain = 8;
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), expected);

  arch.a_buffer_bytes = 2;
  EXPECT_THROW(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), std::invalid_argument);
}

// A line of 8 elements, 3 of them non-zero: 1 + 3 bytes in DRAM, 8 in the buffer. A moves 0..7, B 7..15,
// compute 15..20, sums in C at 24, drain until 28, write-back until 35.
TEST(BlockWalk, PackedLine) {
  const Architecture arch = example_machine(2);
  const ConvShape shape{.in_channels = 2, .out_channels = 4, .in = {1, 2}, .out = {1, 2}};
  BlockJob job = job_of(Pass::input_gradient, shape, {.row0 = 0, .row1 = 2, .col0 = 0, .col1 = 2});
  job.skip = job.packed = true;
  const BlockMapping mapping{.m_block = 2, .n_block = 2, .k_block = 4};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 0, 0, 0, 1, 0, 1, 0}), (GemmCycles{.compute = 5,
                                                                                   .stall_load = 15,
                                                                                   .stall_write_back = 7,
                                                                                   .stall_drain = 8,
                                                                                   .dram_bytes = 16,
                                                                                   .tensor_bytes = 16,
                                                                                   .sram_bytes = 67,
                                                                                   .a_taken = 3,
                                                                                   .b_staged = 8,
                                                                                   .drained = 4,
                                                                                   .sums_stored = 4,
                                                                                   .sums_loaded = 0,
                                                                                   .macs = 6,
                                                                                   .skipped = 10,
                                                                                   .tiles = 1,
                                                                                   .steps = 1}));
  job.a_bits = 16;
  EXPECT_THROW(walk_blocks(arch, job, mapping, {1, 0, 0, 0, 1, 0, 1, 0}), std::invalid_argument);
}

// Lines oh of two channels of three elements of 4 bits, with 1 and 5 non-zero ones: 1 + 1 and 1 + 3 bytes,
// and 2 + 3 as one line. In the buffer they are 6. Loads 0..8 and 8..16, compute 16..24, drain 28..32.
TEST(BlockWalk, PackedLinesOfNoWholeBytes) {
  const Architecture arch = example_machine(2);
  const ConvShape shape{.out_channels = 2, .in = {2, 3}, .out = {2, 3}};
  BlockJob job = job_of(Pass::weight_gradient, shape, {.row0 = 0, .row1 = 2, .col0 = 0, .col1 = 1});
  job.packed = true;
  job.a_bits = 4;
  const BlockMapping mapping{.m_block = 2, .n_block = 1, .k_block = 2};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1}),
            (GemmCycles{.compute = 8,
                        .stall_load = 16,
                        .stall_write_back = 7,
                        .stall_drain = 8,
                        .dram_bytes = 14,
                        .tensor_bytes = 13,
                        .sram_bytes = 44,
                        .a_taken = 12,
                        .b_staged = 6,
                        .drained = 2,
                        .sums_stored = 2,
                        .sums_loaded = 0,
                        .macs = 12,
                        .skipped = 0,
                        .tiles = 1,
                        .steps = 1}));
}

// OneStep, two rows of sums in a cycle: compute until 15, sums in C at 18. Statistics take a row in a cycle
// nevertheless, so the drain is done at 22, not at 21, and the write-back at 29.
TEST(BlockWalk, StatisticsForward) {
  Architecture arch = example_machine(2);
  arch.dram_outstanding = 2;
  arch.sum_rows = 2;
  const ConvShape shape{.in_channels = 4, .out_channels = 2, .in = {1, 2}, .out = {1, 2}};
  BlockJob job = job_of(Pass::forward, shape, {.row0 = 0, .row1 = 2, .col0 = 0, .col1 = 2});
  job.skip = true;
  job.statistics = DrainStatistics::forward;
  const BlockMapping mapping{.m_block = 2, .n_block = 2, .k_block = 4};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 0, 1, 1, 1, 0, 0, 0}), (GemmCycles{.compute = 5,
                                                                                   .stall_load = 10,
                                                                                   .stall_write_back = 7,
                                                                                   .stall_drain = 7,
                                                                                   .dram_bytes = 20,
                                                                                   .tensor_bytes = 20,
                                                                                   .sram_bytes = 68,
                                                                                   .a_taken = 4,
                                                                                   .b_staged = 8,
                                                                                   .drained = 4,
                                                                                   .sums_stored = 4,
                                                                                   .sums_loaded = 0,
                                                                                   .macs = 8,
                                                                                   .skipped = 8,
                                                                                   .tiles = 1,
                                                                                   .steps = 1}));
}

// Two blocks of two outputs, 8 bytes of sums and 2 of x each. With room for one: loads 0..7 and 7..14,
// x 14..21, the next load 21..28, drain 21..25 (for x, since the sums are in C at 20), write-back 28..35; the
// second block computes 35..37, its x moves 35..42 behind that write-back, drain 42..46, write-back 46..53.
// With room for two it computes 28..30, its x moves 28..35, drain 35..39, and write-backs 35..42 and 42..49.
TEST(BlockWalk, StatisticsBackward) {
  Architecture arch = example_machine(2);
  arch.c_buffer_bytes = 19;
  const ConvShape shape{.in = {4, 1}, .out = {4, 1}};
  BlockJob job = job_of(Pass::input_gradient, shape, {.row0 = 0, .row1 = 4, .col0 = 0, .col1 = 1});
  job.statistics = DrainStatistics::backward;
  const BlockMapping mapping{.m_block = 2, .n_block = 1, .k_block = 1};
  GemmCycles expected{.compute = 2 + 2,
                      .stall_load = 14,
                      .stall_write_back = 10 + 7,
                      .stall_drain = 9 + 9,
                      .dram_bytes = 13,
                      .tensor_bytes = 13,
                      .sram_bytes = 59,
                      .a_taken = 4,
                      .b_staged = 2,
                      .drained = 4,
                      .sums_stored = 4,
                      .sums_loaded = 0,
                      .macs = 4,
                      .skipped = 0,
                      .tiles = 2,
                      .steps = 2};
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), expected);

  arch.c_buffer_bytes = 20;
  expected.stall_load = 14 + 12;
  expected.stall_write_back = 10;
  expected.stall_drain = 9;
  EXPECT_EQ(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), expected);

  arch.c_buffer_bytes = 9;
  EXPECT_THROW(walk_blocks(arch, job, mapping, {1, 1, 1, 1}), std::invalid_argument);
}

// The walk itself throws std::logic_error where its figures contradict one another.
TEST(BlockWalk, RandomCasesObeyConservation) {
  std::mt19937_64 random(7);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    const BlockCase each = i < 300 ? random_block_case(random) : random_extended_case(random);
    try {
      const GemmCycles cost = walk_blocks(each.arch, each.job, each.mapping, each.nonzero);
      EXPECT_GE(cost.sums_stored, cost.sums_loaded) << "case " << i;
      EXPECT_GE(cost.dram_bytes, cost.tensor_bytes) << "case " << i;
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 200);
}

}  // namespace
}  // namespace mantissa::test

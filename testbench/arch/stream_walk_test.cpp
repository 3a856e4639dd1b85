// The oracle of streams, held against examples that were worked out by hand from ARITHMETIC.md 7, "Streams".
#include "testbench/arch/stream_walk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "testbench/arch/stream_cases.hpp"

namespace mantissa::test {
namespace {

// Transfers take 6 cycles, then 1 per 4 bytes.
Architecture example_machine(int outstanding) {
  Architecture arch;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  arch.dram_outstanding = outstanding;
  arch.a_buffer_bytes = arch.b_buffer_bytes = 64;
  return arch;
}

// The law's example: load 0..8, 12..17, drain 24..27, write-back 17..23, 27..35.
TEST(StreamWalk, ThreeSegments) {
  Architecture arch = example_machine(2);
  arch.a_buffer_bytes = 16;
  const StreamJob job{.elements = 20, .input_bits = {8}, .output_bits = {16}, .lanes = 4, .latency = 3};
  EXPECT_EQ(walked_segment(arch, job), 8);
  EXPECT_EQ(walk_stream(arch, job), (GemmCycles{.compute = 5,
                                                .stall_load = 13,
                                                .stall_write_back = 14,
                                                .stall_drain = 3,
                                                .dram_bytes = 60,
                                                .tensor_bytes = 60,
                                                .sram_bytes = 120,
                                                .drained = 20,
                                                .steps = 3}));
}

// One segment that no lane is idle for twice: loads 0..7 and 7..14, ready at 20, compute 20..21, out at 23,
// write-back 23..30.
TEST(StreamWalk, WaitsUntilReady) {
  const Architecture arch = example_machine(1);
  const StreamJob job{
      .elements = 3, .input_bits = {8, 4}, .output_bits = {8}, .lanes = 4, .latency = 2, .ready = 20};
  EXPECT_EQ(walked_segment(arch, job), 4);
  EXPECT_EQ(walk_stream(arch, job), (GemmCycles{.compute = 1,
                                                .stall_load = 0,
                                                .stall_write_back = 7,
                                                .stall_drain = 22,
                                                .dram_bytes = 8,
                                                .tensor_bytes = 8,
                                                .sram_bytes = 16,
                                                .drained = 3,
                                                .steps = 1}));
}

// Segments of half a byte, moved as a whole one in a cycle. Loads 0..1, 1..2 and, when segment 0 has left its
// half, 2..3; compute 1..2, 2..3 and, when that half of B is written back, 4..5; write-backs 3..6.
TEST(StreamWalk, SegmentsOfNoWholeBytes) {
  Architecture arch = example_machine(1);
  arch.dram_latency_cycles = 0;
  const StreamJob job{.elements = 3, .input_bits = {4}, .output_bits = {4}};
  EXPECT_EQ(walked_segment(arch, job), 1);
  EXPECT_EQ(walk_stream(arch, job), (GemmCycles{.compute = 3,
                                                .stall_load = 1,
                                                .stall_write_back = 2,
                                                .stall_drain = 0,
                                                .dram_bytes = 6,
                                                .tensor_bytes = 4,
                                                .sram_bytes = 10,
                                                .drained = 3,
                                                .steps = 3}));
}

TEST(StreamWalk, SegmentDoublesWhileItMust) {
  Architecture arch = example_machine(2);
  arch.a_buffer_bytes = arch.b_buffer_bytes = 1024;
  StreamJob job{.elements = 1000, .input_bits = {8, 8}, .output_bits = {16}, .lanes = 3};
  // 12 elements move in 6 cycles, 24 in 12.
  EXPECT_EQ(walked_segment(arch, job), 24);
  job.elements = 13;
  EXPECT_EQ(walked_segment(arch, job), 24);
  job.elements = 12;
  EXPECT_EQ(walked_segment(arch, job), 12);
  job.elements = 1000;
  arch.b_buffer_bytes = 47;  // 12 elements of 2 bytes, twice, less one
  EXPECT_EQ(walked_segment(arch, job), 6);
  arch.b_buffer_bytes = 48;
  EXPECT_EQ(walked_segment(arch, job), 12);
  arch.a_buffer_bytes = 12;
  EXPECT_EQ(walked_segment(arch, job), 3);
  arch.a_buffer_bytes = 11;
  EXPECT_THROW(walked_segment(arch, job), std::invalid_argument);
}

TEST(StreamWalk, RefusesWhatIsNoStream) {
  const Architecture arch = example_machine(1);
  const StreamJob good{.elements = 3, .input_bits = {8}, .output_bits = {8}};
  EXPECT_NO_THROW(walk_stream(arch, good));
  StreamJob bad = good;
  bad.elements = 0;
  EXPECT_THROW(walk_stream(arch, bad), std::invalid_argument);
  bad = good;
  bad.lanes = 0;
  EXPECT_THROW(walk_stream(arch, bad), std::invalid_argument);
  bad = good;
  bad.input_bits = {};
  EXPECT_THROW(walk_stream(arch, bad), std::invalid_argument);
  bad = good;
  bad.output_bits = {8, 0};
  EXPECT_THROW(walk_stream(arch, bad), std::invalid_argument);
}

// The walk itself throws std::logic_error where its figures contradict one another.
TEST(StreamWalk, RandomCasesObeyConservation) {
  std::mt19937_64 random(7);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const StreamCase each = random_stream_case(random);
    try {
      const GemmCycles cost = walk_stream(each.arch, each.job);
      EXPECT_EQ(cost.drained, static_cast<std::uint64_t>(each.job.elements)) << "case " << i;
      EXPECT_GE(cost.compute * each.job.lanes, cost.drained) << "case " << i;
      EXPECT_GE(cost.cycles(), each.job.ready) << "case " << i;
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 150);
}

}  // namespace
}  // namespace mantissa::test

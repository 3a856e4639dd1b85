// What batch norm costs in closed form. That a machine takes as long is in norm_machine_test.cpp, how long
// its units take in norm_time_test.cpp.
#include "sim/arch/norm_cycles.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

Architecture small_machine() {
  Architecture arch;
  arch.norm_lanes = 2;
  arch.a_buffer_bytes = 12;
  arch.b_buffer_bytes = 64;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  return arch;
}

// The example of ARITHMETIC.md 8.
TEST(NormCycles, ForwardWorkedByHand) {
  const NormStreams shape{.channels = 3, .elements = 5};
  EXPECT_EQ(norm_step_length(small_machine(), shape, NormDirection::forward), 3);
  EXPECT_EQ(norm_cycles(small_machine(), shape, NormDirection::forward), (GemmCycles{.compute = 106,
                                                                                     .stall_load = 31,
                                                                                     .stall_write_back = 13,
                                                                                     .dram_bytes = 45,
                                                                                     .dram_bytes_unique = 30,
                                                                                     .sram_bytes = 90,
                                                                                     .a_taken = 30,
                                                                                     .drained = 15,
                                                                                     .tiles = 2,
                                                                                     .steps = 8}));
}

// One channel of 4 elements, g of 32 bits: B holds 4 of them per lane in a half, A 3 of x.
//   step  pass, elements  x       g        compute   write-back
//   0     1, 3            0..7    7..16    16..19
//   1     1, 1            16..23  23..30   30..39 (1 + 8)
//   2     2, 3            30..37  37..46   46..54 (3 + 5)
//   3     2, 1            46..53  53..60   60..66    60..67 of step 2, 67..74 of step 3
// Idle: 0..16, 19..30, 39..46, 54..60 load; 66..74 write-back.
TEST(NormCycles, BackwardWorkedByHand) {
  const GemmCycles cost = norm_cycles(small_machine(), {.channels = 1, .elements = 4, .gradient_bits = 32},
                                      NormDirection::backward);
  EXPECT_EQ(cost, (GemmCycles{.compute = 3 + 9 + 8 + 6,
                              .stall_load = 16 + 11 + 7 + 6,
                              .stall_write_back = 8,
                              .dram_bytes = 8 + 32 + 4,
                              .dram_bytes_unique = 4 + 16 + 4,
                              .sram_bytes = 88,
                              .a_taken = 8,
                              .b_staged = 8,
                              .drained = 4,
                              .tiles = 1,
                              .steps = 4}));
  EXPECT_EQ(cost.cycles(), 74U);
}

// Memory that is never waited for: what is left is the units' own time.
TEST(NormCycles, OfTheUnitsAlone) {
  Architecture arch;
  arch.norm_lanes = 4;
  arch.dram_latency_cycles = 0;
  arch.dram_burst_bytes = 1 << 20;
  arch.dram_burst_cycles = 1;
  const NormStreams shape{.channels = 10, .elements = 100};
  const GemmCycles forward = norm_cycles(arch, shape, NormDirection::forward);
  EXPECT_EQ(forward.compute, 3U * (100 + 34 + 3) + 3 * (100 + 3));
  EXPECT_EQ(forward.stall_load, 1U);
  EXPECT_EQ(forward.stall_write_back, 1U);
  const GemmCycles backward = norm_cycles(arch, shape, NormDirection::backward);
  EXPECT_EQ(backward.compute, 3U * (100 + 8 + 100 + 5));
  EXPECT_EQ(backward.stall_load, 2U);
  EXPECT_EQ(backward.stall_write_back, 1U);
}

// Two channels of 12 elements in 6 parts, 4 lanes, memory that is never waited for: two lanes a channel, six
// elements each. At the end two parts are not added yet.
TEST(NormCycles, PartsTakeLanesThatHaveNoChannel) {
  Architecture arch;
  arch.norm_lanes = 4;
  arch.dram_latency_cycles = 0;
  arch.dram_burst_bytes = 1 << 20;
  arch.dram_burst_cycles = 1;
  NormStreams shape{.channels = 2, .elements = 12, .parts = 6};
  EXPECT_EQ(norm_step_length(arch, shape, NormDirection::forward), 6);
  EXPECT_EQ(norm_cycles(arch, shape, NormDirection::forward).compute, 6U + 34 + 3 + 2 + 6 + 3);
  EXPECT_EQ(norm_cycles(arch, shape, NormDirection::backward).compute, 6U + 8 + 2 + 6 + 5);
  EXPECT_EQ(fused_norm_job(arch, shape, NormDirection::backward).ready, 8U + 1);
  const auto lanes = [&](std::int64_t channels, std::int64_t elements, std::int64_t parts, int norm_lanes) {
    arch.norm_lanes = norm_lanes;
    return lanes_of_channel(arch, {.channels = channels, .elements = elements, .parts = parts});
  };
  EXPECT_EQ(lanes(2, 12, 2, 4), 2);
  EXPECT_EQ(lanes(2, 12, 1, 4), 1);
  EXPECT_EQ(lanes(64, 50176, 8, 512), 8);
  EXPECT_EQ(lanes(512, 196, 7, 512), 1);
  EXPECT_EQ(lanes(600, 196, 7, 512), 1);
  EXPECT_EQ(lanes(100, 1200, 6, 512), 3);
  EXPECT_EQ(lanes(1, 32, 8, 512),
            4);  // eight parts of four elements: additions of four hide behind four more
  // A part of its own for each lane: the first one needs no addition.
  arch.norm_lanes = 4;
  shape.parts = 2;
  EXPECT_EQ(norm_cycles(arch, shape, NormDirection::forward).compute, 6U + 34 + 3 + 1 + 6 + 3);
  // A lane that has all parts adds each while the next is under way.
  arch.norm_lanes = 2;
  EXPECT_EQ(norm_cycles(arch, shape, NormDirection::forward).compute, 12U + 34 + 3 + 1 + 12 + 3);
}

TEST(NormCycles, RefusesWhatDoesNotFit) {
  const auto refusal = [](const Architecture& arch, const NormStreams& shape, NormDirection direction) {
    try {
      norm_cycles(arch, shape, direction);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const auto refuses = [&](const NormStreams& shape, const std::string& why, const Architecture& arch = {}) {
    EXPECT_NE(refusal(arch, shape, NormDirection::backward).find(why), std::string::npos) << why;
  };
  refuses({.channels = 0, .elements = 4}, "0 channels");
  refuses({.channels = 1, .elements = 1}, "1 elements");
  refuses({.channels = 1 << 20, .elements = (1 << 20) + 1}, "2^40");
  refuses({.channels = 1, .elements = 4, .x_bits = 0}, "1..32 bits");
  Architecture arch = small_machine();
  refuses({.channels = 1 << 15, .elements = 1 << 20}, "2^30 steps", arch);
  refuses({.channels = 1, .elements = 4, .x_bits = 32}, "a_buffer 12", arch);
  arch.b_buffer_bytes = 3;
  refuses({.channels = 1, .elements = 4}, "b_buffer 3", arch);
  // Forward has no g.
  EXPECT_EQ(refusal(arch, {.channels = 1, .elements = 4}, NormDirection::forward), "nothing was refused");
}

}  // namespace
}  // namespace mantissa

// What batch norm costs, group by group. How long the units take is in norm_time_test.cpp.
#include "sim/arch/norm_cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace mantissa {
namespace {

TEST(NormCycles, WorkedByHand) {
  Architecture arch;
  arch.norm_lanes = 4;
  arch.dram_latency_cycles = 10;
  arch.dram_burst_bytes = 16;
  arch.dram_burst_cycles = 2;
  // 6 channels of 100: groups of 4 and 2. Forward, 8 bits: the units take 237 cycles. Group 0 moves three
  // streams of 400 bytes: 25 bursts, 60 cycles each. That is hidden.
  const GemmCycles forward = norm_forward_cost(arch, {.channels = 6, .elements = 100});
  EXPECT_EQ(forward, (GemmCycles{.compute = 237 + 237,
                                 .dram_bytes = 1800,
                                 .dram_bytes_unique = 1200,
                                 .sram_bytes = 3600,
                                 .drained = 600,
                                 .tiles = 2,
                                 .steps = 2}));
  // Backward with g of 32 bits: x 60, g 10 + 100 * 2 = 210, dx 60: 2 * 270 + 60 = 600 against 213.
  // Group 1: x 10 + 13 * 2 = 36, g 10 + 50 * 2 = 110, dx 36: 328.
  const GemmCycles backward = norm_backward_cost(arch, {.channels = 6, .elements = 100, .gradient_bits = 32});
  EXPECT_EQ(backward.compute, 2U * 213);
  EXPECT_EQ(backward.stall_load, (600U - 213) + (328U - 213));
  EXPECT_EQ(backward.cycles(), 928U);
  EXPECT_EQ(backward.dram_bytes, 600U * (1 + 4 + 1 + 4 + 1));
  EXPECT_EQ(backward.dram_bytes_unique, 600U * (1 + 4 + 1));
  EXPECT_EQ(backward.macs + backward.skipped, 0U);
}

TEST(NormCycles, SumOverGroups) {
  std::mt19937_64 engine(4);
  for (int i = 0; i < 300; ++i) {
    Architecture arch;
    arch.norm_lanes = static_cast<int>(1 + engine() % 9);
    const NormShape shape{.channels = static_cast<std::int64_t>(1 + engine() % 50),
                          .elements = static_cast<std::int64_t>(2 + engine() % 3000),
                          .x_bits = 6,
                          .result_bits = 16,
                          .gradient_bits = 8};
    GemmCycles forward;
    GemmCycles backward;
    for (std::int64_t first = 0; first < shape.channels; first += arch.norm_lanes) {
      NormShape group = shape;
      group.channels = std::min<std::int64_t>(arch.norm_lanes, shape.channels - first);
      forward += norm_forward_cost(arch, group);
      backward += norm_backward_cost(arch, group);
    }
    EXPECT_EQ(norm_forward_cost(arch, shape).cycles(), forward.cycles());
    EXPECT_EQ(norm_forward_cost(arch, shape).dram_bytes, forward.dram_bytes);
    EXPECT_EQ(norm_forward_cost(arch, shape).steps, forward.steps);
    EXPECT_EQ(norm_backward_cost(arch, shape).cycles(), backward.cycles());
    EXPECT_EQ(norm_backward_cost(arch, shape).stall_load, backward.stall_load);
    EXPECT_EQ(norm_backward_cost(arch, shape).sram_bytes, backward.sram_bytes);
  }
}

TEST(NormCycles, RefusesWhatDoesNotFit) {
  EXPECT_THROW(norm_forward_cost({}, {.channels = 0, .elements = 4}), std::invalid_argument);
  EXPECT_THROW(norm_forward_cost({}, {.channels = 1, .elements = 1}), std::invalid_argument);
  EXPECT_THROW(norm_backward_cost({}, {.channels = 1 << 20, .elements = (1 << 20) + 1}),
               std::invalid_argument);
  EXPECT_THROW(norm_backward_cost({}, {.channels = 1, .elements = 4, .x_bits = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

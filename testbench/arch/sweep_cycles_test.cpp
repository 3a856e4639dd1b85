// Fused batch norms with a sweep of their own in closed form against a walk through every cycle.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "sim/arch/norm_cycles.hpp"
#include "testbench/arch/dice.hpp"
#include "testbench/arch/sweep_walk.hpp"

namespace mantissa::test {
namespace {

// The law's example.
TEST(SweptNorm, WorkedByHand) {
  Architecture arch;
  arch.norm_lanes = 2;
  arch.a_buffer_bytes = 16;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  arch.dram_outstanding = 2;
  arch.b_buffer_bytes = 64;
  const NormStreams shape{.channels = 1, .elements = 6, .parts = 2};
  const GemmCycles expected{.compute = 15,
                            .stall_load = 19,
                            .stall_write_back = 7,
                            .stall_drain = 5,
                            .dram_bytes = 30,
                            .dram_bytes_unique = 18,
                            .tensor_bytes = 18,
                            .sram_bytes = 60,
                            .a_taken = 6,
                            .b_staged = 6,
                            .drained = 6,
                            .tiles = 1,
                            .steps = 4};
  EXPECT_EQ(walk_swept_norm(arch, shape, NormDirection::backward), expected);
  EXPECT_EQ(fused_norm_cycles(arch, shape, NormDirection::backward, false), expected);
}

struct SweepCase {
  Architecture arch;
  NormStreams shape;
  NormDirection direction = NormDirection::forward;

  std::string text() const {
    return fmt::format(
        "{} channels of {} in {} parts, {} + {} into {} bits, {}, {} lanes, A {}, B {}, DRAM {} {} {}/{} {}",
        shape.channels, shape.elements, shape.parts, shape.x_bits, shape.gradient_bits, shape.result_bits,
        direction == NormDirection::forward ? "forward" : "backward", arch.norm_lanes, arch.a_buffer_bytes,
        arch.b_buffer_bytes, arch.dram_latency_cycles, arch.dram_burst_bytes,
        arch.dram_burst_cycles.numerator, arch.dram_burst_cycles.denominator, arch.dram_outstanding);
  }
};

SweepCase random_sweep(std::mt19937_64& random) {
  Dice dice(random);
  SweepCase one;
  one.shape.parts = dice.one_of<std::int64_t>({1, 1, 2, 3, 4, 6, 8, 12});
  one.shape.elements = one.shape.parts * dice.pick(2, dice.one_of<std::int64_t>({3, 12, 60}));
  one.shape.channels = dice.pick(1, 12);
  one.shape.x_bits = dice.one_of({4, 8, 8, 16, 32});
  one.shape.gradient_bits = dice.one_of({6, 8, 8, 16, 32});
  one.shape.result_bits = dice.one_of({6, 8, 8, 16, 32});
  one.direction = dice.chance(50) ? NormDirection::forward : NormDirection::backward;
  Architecture& arch = one.arch;
  arch.norm_lanes = static_cast<int>(dice.pick(1, dice.one_of<std::int64_t>({4, 12, 100})));
  arch.dram_latency_cycles = dice.chance(20) ? 0 : dice.pick(1, 40);
  arch.dram_burst_bytes = dice.one_of<std::int64_t>({1, 2, 3, 4, 8, 64});
  arch.dram_burst_cycles =
      dice.chance(50) ? Ratio(dice.pick(1, 4)) : Ratio{dice.pick(1, 12), dice.pick(2, 7)};
  arch.dram_outstanding = static_cast<int>(dice.pick(1, 8));
  arch.a_buffer_bytes = dice.one_of<std::int64_t>({65536, dice.pick(1, 200), dice.pick(100, 2000)});
  arch.b_buffer_bytes = dice.one_of<std::int64_t>({65536, dice.pick(100, 2000)});
  return one;
}

// Empty where the sweep is refused.
template <class Cost>
std::optional<GemmCycles> unless_refused(const Cost& cost) {
  try {
    return cost();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

TEST(SweptNormWalk, ClosedFormIsWhatTheWalkCounts) {
  std::mt19937_64 random(1);
  int compared = 0;
  int shared = 0;  // channels by lanes
  int in_turn = 0;
  for (int i = 0; i < 1500; ++i) {
    const SweepCase one = random_sweep(random);
    const auto& [arch, shape, direction] = one;
    const auto walked = unless_refused([&] { return walk_swept_norm(one.arch, one.shape, one.direction); });
    const auto formed =
        unless_refused([&] { return fused_norm_cycles(one.arch, one.shape, one.direction, false); });
    ASSERT_EQ(walked.has_value(), formed.has_value()) << one.text();
    if (!walked) continue;
    ASSERT_EQ(*walked, *formed) << "case " << i << ": " << one.text() << "; cycles " << walked->cycles()
                                << ", closed form " << formed->cycles();
    ++compared;
    const std::int64_t lanes = lanes_of_channel(arch, shape);
    if (lanes > 1) ++shared;
    if (lanes > 1 && lanes < shape.parts) ++in_turn;
  }
  EXPECT_GT(compared, 900);
  EXPECT_GT(shared, 180);
  EXPECT_GT(in_turn, 40);
}

}  // namespace
}  // namespace mantissa::test

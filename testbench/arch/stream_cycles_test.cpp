// The closed form of streams against a walk through every cycle.
#include "sim/arch/stream_cycles.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "testbench/arch/stream_cases.hpp"
#include "testbench/arch/stream_walk.hpp"

namespace mantissa::test {
namespace {

std::string text_of(const StreamCase& one) {
  const auto& [arch, job] = one;
  return fmt::format(
      "{} elements of {} into {} bits, {} lanes, latency {}, ready {}; buffers {} {}, DRAM latency {}, {} "
      "bytes in "
      "{}/{} cycles, outstanding {}",
      job.elements, fmt::join(job.input_bits, "+"), fmt::join(job.output_bits, "+"), job.lanes, job.latency,
      job.ready, arch.a_buffer_bytes, arch.b_buffer_bytes, arch.dram_latency_cycles, arch.dram_burst_bytes,
      arch.dram_burst_cycles.numerator, arch.dram_burst_cycles.denominator, arch.dram_outstanding);
}

std::string all_fields(const GemmCycles& c) {
  return fmt::format(
      "compute {} load {} write-back {} drain {}, dram {} (unique {}) of {} tensor bytes, sram {}, a {} b {} "
      "drained {} stored {} loaded {}, macs {} skipped {}, tiles {} steps {}",
      c.compute, c.stall_load, c.stall_write_back, c.stall_drain, c.dram_bytes, c.dram_bytes_unique,
      c.tensor_bytes, c.sram_bytes, c.a_taken, c.b_staged, c.drained, c.sums_stored, c.sums_loaded, c.macs,
      c.skipped, c.tiles, c.steps);
}

// Empty where the stream is refused.
template <class Cost>
std::optional<GemmCycles> cost_of(const StreamCase& one, Cost cost) {
  try {
    return cost(one.arch, one.job);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}
template <class Length>
std::int64_t length_of(const StreamCase& one, Length length) {
  try {
    return length(one.arch, one.job);
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

void walk_streams(std::uint64_t seed, int cases) {
  std::mt19937_64 random(seed);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const StreamCase one = random_stream_case(random);
    ASSERT_EQ(length_of(one, walked_segment), length_of(one, stream_segment)) << text_of(one);
    const std::optional<GemmCycles> walked = cost_of(one, walk_stream);
    const std::optional<GemmCycles> formed =
        cost_of(one, [](const Architecture& arch, const StreamJob& job) { return stream_cycles(arch, job); });
    ASSERT_EQ(walked.has_value(), formed.has_value()) << text_of(one);
    if (!walked) continue;
    ++compared;
    ASSERT_EQ(all_fields(*walked), all_fields(*formed)) << "case " << i << ": " << text_of(one);
  }
  EXPECT_GT(compared, cases / 2);
}

TEST(StreamCyclesWalk, ClosedFormIsWhatTheWalkCounts) { walk_streams(1, 3000); }
TEST(LongStreamCyclesWalk, ClosedFormIsWhatTheWalkCounts) { walk_streams(2, 100000); }

}  // namespace
}  // namespace mantissa::test

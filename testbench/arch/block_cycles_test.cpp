// The closed form of the second machine against a walk through every cycle, and against what no machine can
// beat.
#include "sim/arch/block_cycles.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/tensor/nonzero_counts.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/arch/sizes.hpp"
#include "testbench/arch/block_cases.hpp"
#include "testbench/arch/block_walk.hpp"
#include "testbench/arch/timeline_sums.hpp"

namespace mantissa::test {
namespace {

// Counts as the replay makes them: of the phases' own rows where there are several, else of the lowered
// matrix.
BlockCounts counts_of(const BlockCase& one) {
  const BlockJob& job = one.job;
  const std::vector<PassPhase> phases = phases_of(job.shape, job.pass);
  const PassSides sides = sides_of(job.shape, job.pass);
  const EncodedTensor first = EncodedTensor::codes(one.nonzero, formats::e5m2, 0);
  BlockCounts counts;
  if (!job.skip) return counts;
  for (const PassPhase& phase : phases) {
    for (std::int64_t group = 0; group < job.shape.groups; ++group) {
      std::vector<std::uint16_t>& of = counts.emplace_back();
      if (phases.size() > 1) {
        append_phase_nonzero_counts(first, job.shape, phase, group, one.arch.window, 1, of);
        continue;
      }
      std::vector<std::uint8_t> lowered(static_cast<std::size_t>(sides.m * sides.k));
      lower_a<std::uint8_t>(job.shape, job.pass, group, {0, sides.m, 0, sides.k}, one.nonzero, 0, lowered, 1);
      append_nonzero_counts(lowered, 0xFF, sides.m, sides.k, one.arch.window, 1, of);
    }
  }
  return counts;
}

// Of every row oh of a g in packed lines.
std::vector<std::uint32_t> row_nonzero_of(const BlockCase& one) {
  std::vector<std::uint32_t> rows;
  if (!one.job.packed) return rows;
  const std::int64_t length = one.job.shape.out[1];
  for (auto element = one.nonzero.begin(); element != one.nonzero.end(); element += length)
    rows.push_back(static_cast<std::uint32_t>(std::count(element, element + length, 1)));
  return rows;
}

std::string text_of(const GemmCycles& c) {
  return fmt::format(
      "compute {} load {} write-back {} drain {}, dram {} of {} tensor bytes, sram {}, a {} b {} drained {} "
      "stored {} "
      "loaded {}, macs {} skipped {}, tiles {} steps {}",
      c.compute, c.stall_load, c.stall_write_back, c.stall_drain, c.dram_bytes, c.tensor_bytes, c.sram_bytes,
      c.a_taken, c.b_staged, c.drained, c.sums_stored, c.sums_loaded, c.macs, c.skipped, c.tiles, c.steps);
}

std::string text_of(const BlockCase& one) {
  const ConvShape& g = one.job.shape;
  const Rectangle& out = one.job.outputs;
  const Architecture& arch = one.arch;
  return fmt::format(
      "{}: batch {} channels {} -> {} groups {} in {}x{} kernel {}x{} stride {},{} pad {},{} dil {},{}; "
      "outputs {}..{} x "
      "{}..{}; {} {} x {} x {}; array {}x{} window {} depth {} port {}, buffers {} {} {}, outstanding {}, "
      "skip {} fp32 {}; bits {} {} {} sums {}, packed {}, statistics {} of {} bits; sum rows {}",
      name_of(one.job.pass), g.batch, g.in_channels, g.out_channels, g.groups, g.in[0], g.in[1], g.kernel[0],
      g.kernel[1], g.stride[0], g.stride[1], g.padding[0], g.padding[1], g.dilation[0], g.dilation[1],
      out.row0, out.row1, out.col0, out.col1, name_of(one.mapping.order), one.mapping.m_block,
      one.mapping.n_block, one.mapping.k_block, arch.rows, arch.cols, arch.window, arch.depth, arch.port,
      arch.a_buffer_bytes, arch.b_buffer_bytes, arch.c_buffer_bytes, arch.dram_outstanding, one.job.skip,
      one.job.fp32, one.job.a_bits, one.job.b_bits, one.job.c_bits, one.job.sum_bits, one.job.packed,
      static_cast<int>(one.job.statistics), one.job.x_bits, arch.sum_rows);
}

BlockCase with_sum_rows(BlockCase one, std::uint64_t pick) {
  one.arch.sum_rows = static_cast<int>(1 + pick % 3);
  if (one.job.fp32) one.job.skip = false;
  return one;
}

void walk_cases(std::uint64_t seed, int cases, BlockCase (*random_case)(std::mt19937_64&)) {
  std::mt19937_64 random(seed);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t pick = random();
    const BlockCase one = with_sum_rows(random_case(random), pick);
    std::optional<GemmCycles> walked;
    std::optional<GemmCycles> formed;
    TimelineRecorder recorder(0);
    std::string refused;
    try {
      walked = walk_blocks(one.arch, one.job, one.mapping, one.nonzero);
    } catch (const std::invalid_argument& error) {
      refused = std::string("walk: ") + error.what();
    }
    try {
      recorder = TimelineRecorder(i % 2 == 0 ? 1 << 20 : 20);
      formed =
          block_cycles(one.arch, one.job, one.mapping, counts_of(one), row_nonzero_of(one), &recorder).cycles;
    } catch (const std::invalid_argument& error) {
      refused += std::string(" closed form: ") + error.what();
    }
    ASSERT_EQ(walked.has_value(), formed.has_value()) << text_of(one) << "\n" << refused;
    if (!walked) continue;
    ++compared;
    ASSERT_EQ(text_of(*walked), text_of(*formed)) << "case " << i << ": " << text_of(one);
    expect_order(recorder.result());
    if (i % 2 == 0) expect_sums(recorder.result(), *walked);
    ASSERT_FALSE(testing::Test::HasFailure()) << "case " << i << ": " << text_of(one);
  }
  EXPECT_GT(compared, cases / 2);
}

class BlockCyclesWalk : public testing::TestWithParam<int> {};
TEST_P(BlockCyclesWalk, ClosedFormIsWhatTheWalkCounts) {
  walk_cases(static_cast<std::uint64_t>(GetParam()), 500, random_block_case);
}
TEST_P(BlockCyclesWalk, ClosedFormIsWhatTheWalkCountsOfPackedLinesAndStatistics) {
  walk_cases(1000 + static_cast<std::uint64_t>(GetParam()), 500, random_extended_case);
}
INSTANTIATE_TEST_SUITE_P(Seeds, BlockCyclesWalk, testing::Range(1, 7));

class BlockCyclesLong : public testing::TestWithParam<int> {};
TEST_P(BlockCyclesLong, ClosedFormIsWhatTheWalkCounts) {
  walk_cases(static_cast<std::uint64_t>(GetParam()), 5000, random_block_case);
}
TEST_P(BlockCyclesLong, ClosedFormIsWhatTheWalkCountsOfPackedLinesAndStatistics) {
  walk_cases(1000 + static_cast<std::uint64_t>(GetParam()), 5000, random_extended_case);
}
INSTANTIATE_TEST_SUITE_P(LongSeeds, BlockCyclesLong, testing::Range(101, 109));

// The working set fits: every byte is moved once. Elements of whole bytes, and packed lines of whole bytes of
// mask, so that packing rounds nothing.
TEST(BlockMapper, MovesEachByteOnceWhereAllFits) {
  std::mt19937_64 random(7);
  int packed = 0;
  for (int i = 0; i < 4000; ++i) {
    BlockCase one = i < 1000 ? random_block_case(random) : random_extended_case(random);
    if (one.job.packed && one.job.shape.out[1] % 8 != 0) continue;
    packed += one.job.packed ? 1 : 0;
    one.arch.a_buffer_bytes = one.arch.b_buffer_bytes = one.arch.c_buffer_bytes = 1 << 24;
    const PassSides sides = sides_of(one.job.shape, one.job.pass);  // a part may begin within a channel
    one.job.outputs = {0, sides.m, 0, sides.n * one.job.shape.groups};
    for (int* bits : {&one.job.a_bits, &one.job.b_bits, &one.job.c_bits, &one.job.x_bits})
      *bits = (*bits + 7) / 8 * 8;
    if (one.job.fp32) one.job.skip = false;
    const GemmCycles cost = best_mapping(one.arch, one.job, counts_of(one), row_nonzero_of(one)).cost.cycles;
    ASSERT_EQ(cost.dram_bytes, cost.tensor_bytes) << text_of(one);
  }
  EXPECT_GT(packed, 10);
}

// No machine is faster than its array and its memory, and a mapping that is looked for is no worse than one
// at random.
TEST(BlockMapper, StaysWithinPhysics) {
  std::mt19937_64 random(8);
  int found = 0;
  double better = 0;
  for (int i = 0; i < 2000; ++i) {
    BlockCase one = i % 2 == 0 ? random_block_case(random) : random_extended_case(random);
    if (one.job.fp32) one.job.skip = false;
    const BlockCounts counts = counts_of(one);
    const std::vector<std::uint32_t> rows = row_nonzero_of(one);
    std::optional<GemmCycles> best;
    std::optional<GemmCycles> given;
    try {
      best = best_mapping(one.arch, one.job, counts, rows).cost.cycles;
      given = block_cycles(one.arch, one.job, one.mapping, counts, rows).cycles;
    } catch (const std::invalid_argument&) {
    }
    if (!best) continue;
    ++found;
    const auto pes = one.job.fp32 ? static_cast<std::uint64_t>(one.arch.fp32_macs_per_cycle)
                                  : static_cast<std::uint64_t>(one.arch.rows) * one.arch.cols;
    ASSERT_GE(best->cycles() * pes, best->macs) << text_of(one);
    ASSERT_GE(best->cycles(),
              static_cast<std::uint64_t>(one.arch.data_cycles(static_cast<std::int64_t>(best->dram_bytes))));
    ASSERT_GE(best->dram_bytes, best->tensor_bytes) << text_of(one);
    if (given) better += best->cycles() * 100 <= given->cycles() * 101 ? 1 : 0;
    if (!given) better += 1;
  }
  EXPECT_GT(found, 1800);
  EXPECT_GT(better, 0.85 * found);
}

}  // namespace
}  // namespace mantissa::test

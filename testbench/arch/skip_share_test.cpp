// The share that the mapper guesses with, against the whole of a pass that is small enough to be sampled
// entirely.
#include "sim/arch/skip_share.hpp"

#include <gtest/gtest.h>

#include <random>

#include "models/mac/pass_phases.hpp"
#include "sim/arch/sizes.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

struct Case {
  Architecture arch;
  BlockJob job;
  BlockCounts nonzero;
};

// Images of 1 x 4, at most 64 rows in a phase.
Case random_case(std::mt19937& engine, Pass pass) {
  const auto one_of = [&](int from, int to) { return std::uniform_int_distribution(from, to)(engine); };
  Case made;
  made.arch.mapping = Mapping::automatic;
  made.arch.rows = 16;
  made.arch.cols = 8;
  made.arch.window = 4;
  made.arch.depth = one_of(1, 4);
  made.arch.port = one_of(1, 4);
  ConvShape& g = made.job.shape;
  g = {.batch = one_of(1, 4),
       .in_channels = one_of(1, 20),
       .out_channels = std::int64_t{4} * one_of(1, 10),
       .in = {4, 4}};
  g.kernel = {3, 3};
  g.padding = {1, 1};
  g.stride = {one_of(1, 2), 1};
  g.out = g.fitting_out();
  made.job.pass = pass;
  made.job.skip = true;
  const PassSides sides = sides_of(g, pass);
  made.job.outputs = {0, sides.m, 0, sides.n};
  for (const PassPhase& phase : phases_of(g, pass)) {
    const bool weights = pass == Pass::weight_gradient;
    const std::int64_t rows = weights ? sides.m : g.batch * phase.rows_per_image();
    const std::int64_t channels = pass == Pass::forward ? g.in_channels : g.out_channels;
    const std::int64_t k = weights ? sides.k : channels * phase.taps_in_all();
    std::vector<std::uint16_t>& counts = made.nonzero.emplace_back();
    for (std::int64_t i = 0; i < rows * ceil_div(k, made.arch.window); ++i) {
      const std::int64_t first = i % ceil_div(k, made.arch.window) * made.arch.window;
      counts.push_back(
          static_cast<std::uint16_t>(one_of(0, static_cast<int>(std::min<std::int64_t>(4, k - first)))));
    }
  }
  return made;
}

TEST(SkipShare, OfWhatIsSampledEntirelyIsExact) {
  std::mt19937 engine(5);
  for (int i = 0; i < 60; ++i) {
    const Pass pass = static_cast<Pass>(i % 3);
    const Case each = random_case(engine, pass);
    SkipShare share(each.arch, each.job, each.nonzero);
    const bool weights = pass == Pass::weight_gradient;
    const ConvShape& g = each.job.shape;
    const std::int64_t channels = pass == Pass::forward ? g.in_channels : g.out_channels;
    const std::int64_t units = weights ? g.batch * g.out[0] : channels;
    for (const std::int64_t k_block : {std::int64_t{4}, std::int64_t{8}, units}) {
      // One block of one tile column.
      BlockJob job = each.job;
      job.outputs.col1 = 1;
      const BlockMapping mapping{BlockOrder::m_outside, ceil_div(job.outputs.rows(), 16) * 16, 8, k_block};
      const auto skipped =
          static_cast<double>(block_cycles(each.arch, job, mapping, each.nonzero).cycles.compute);
      job.skip = false;
      const auto dense = static_cast<double>(block_cycles(each.arch, job, mapping, {}).cycles.compute);
      EXPECT_DOUBLE_EQ(share.of(k_block), std::min(1.0, skipped / dense)) << i << " " << k_block;
    }
    EXPECT_EQ(share.of(units), share.of(1000 * units));
  }
}

TEST(SkipShare, IsOneWithoutSkippingAndRefusesOtherCounts) {
  std::mt19937 engine(6);
  Case each = random_case(engine, Pass::weight_gradient);
  each.nonzero.front().pop_back();
  EXPECT_TRUE(
      contains(refusal([&] { SkipShare(each.arch, each.job, each.nonzero); }), "not those of the pass"));
  each.job.skip = false;
  EXPECT_EQ(SkipShare(each.arch, each.job, {}).of(4), 1);
}

}  // namespace
}  // namespace mantissa::test

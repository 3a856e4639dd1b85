// The staging table against the golden schedule, tile by tile.
#include "sim/arch/staging.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr std::int64_t m = 37;  // the last tile row has 5 of 16 rows
constexpr std::int64_t k = 203;
constexpr std::int64_t windows = 13;

std::vector<std::uint16_t> random_counts(unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint16_t> counts;
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t w = 0; w < windows; ++w) {
      counts.push_back(static_cast<std::uint16_t>(engine() % (w == windows - 1 ? 12 : 8)));
    }
  }
  return counts;
}

std::uint64_t golden(const SkipWindow& array, const std::vector<std::uint16_t>& counts,
                     std::uint64_t tile_cols) {
  std::uint64_t cycles = 0;
  for (std::int64_t row = 0; row < m; row += 16) {
    const std::vector<std::uint32_t> tile(counts.begin() + row * windows,
                                          counts.begin() + std::min<std::int64_t>(m, row + 16) * windows);
    cycles += tile_cols * skip_schedule(array, k, tile).cycles;
  }
  return cycles;
}

TEST(Staging, PointsAreThoseOfTheGoldenSchedule) {
  const auto dx = random_counts(1);
  const auto dw = random_counts(2);
  StagingTable table(Architecture{});
  table.add_dense(m, 40, k);               // 3 tile columns
  table.add_gradient(m, 40, k, dx, 1, 2);  // two threads
  table.add_gradient(m, 16, k, dw, 5);     // five times
  const std::vector<StagingPoint> points = table.points();
  ASSERT_EQ(points.size(), 12U);
  std::size_t i = 0;
  for (const int port : {2, 4, 8, 16}) {
    for (const int depth : {1, 2, 4}) {
      SkipWindow array{.depth = depth, .port = port};
      const std::uint64_t skipping = golden(array, dx, 3) + 5 * golden(array, dw, 1);
      array.skip = false;
      const std::uint64_t dense = golden(array, dx, 3);
      const std::uint64_t all = dense + dense + 5 * golden(array, dw, 1);
      EXPECT_EQ(points[i].port, port);
      EXPECT_EQ(points[i].depth, depth);
      EXPECT_DOUBLE_EQ(points[i].speedup, static_cast<double>(all) / static_cast<double>(dense + skipping));
      ++i;
    }
  }
}

TEST(Staging, NoGemmNoSpeedUp) {
  for (const StagingPoint& point : StagingTable(Architecture{}).points()) EXPECT_EQ(point.speedup, 1);
}

TEST(Staging, Bound) {
  EXPECT_DOUBLE_EQ(speedup_bound(0), 1);
  EXPECT_DOUBLE_EQ(speedup_bound(1), 3);
  EXPECT_NEAR(speedup_bound(.85), 2.3077, 1e-4);
}

TEST(Staging, RefusesWhatDoesNotFit) {
  const std::vector<std::uint16_t> counts(3);
  EXPECT_THROW(compute_cycles({}, 16, 16, counts, 1), std::invalid_argument);
  EXPECT_THROW(compute_cycles({}, 0, 16, counts, 1), std::invalid_argument);
  EXPECT_THROW(StagingTable(Architecture{}).add_gradient(16, 16, 16, counts), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

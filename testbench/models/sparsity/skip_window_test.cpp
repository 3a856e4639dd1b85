// The skip schedule: small cases worked by hand, and the published speed-ups at 85 % zeros.
#include "models/sparsity/skip_window.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <vector>

namespace mantissa {
namespace {

using Counts = std::vector<std::uint32_t>;

TEST(SkipWindow, OneRowDepthOneByHand) {
  // Two windows of 4, port 2: staged at 2, row done at 2+3 = 5; second staged at 5+2 = 7, done at 7+1 = 8.
  const SkipWindow array{.rows = 1, .window = 4, .depth = 1, .port = 2};
  EXPECT_EQ(skip_schedule(array, 8, Counts{3, 1}), (SkipSchedule{8, 4}));
  // An empty window still takes one cycle.
  EXPECT_EQ(skip_schedule(array, 8, Counts{3, 0}), (SkipSchedule{8, 3}));
}

TEST(SkipWindow, SecondSlotHidesStaging) {
  // Depth 2: staged at 2 and 4; row done at 2+3 = 5, then max(5, 4)+1 = 6. Third window: staged at
  // max(4, 5)+2 = 7, done at 7+4 = 11.
  const SkipWindow array{.rows = 1, .window = 4, .depth = 2, .port = 2};
  EXPECT_EQ(skip_schedule(array, 8, Counts{3, 1}), (SkipSchedule{6, 4}));
  EXPECT_EQ(skip_schedule(array, 12, Counts{3, 1, 4}), (SkipSchedule{11, 8}));
}

TEST(SkipWindow, SlowestRowHoldsTheSlot) {
  // Depth 1, port 4: window 0 staged at 1; rows done at 2 and 5. Window 1 staged at 6; rows done at 10 and 7.
  const SkipWindow array{.rows = 2, .window = 4, .depth = 1, .port = 4};
  EXPECT_EQ(skip_schedule(array, 8, Counts{1, 4, 4, 1}), (SkipSchedule{10, 10}));
  // Depth 2: window 1 staged at 2; row 0: 2, then 2+4 = 6; row 1: 5, then 5+1 = 6.
  const SkipWindow deep{.rows = 2, .window = 4, .depth = 2, .port = 4};
  EXPECT_EQ(skip_schedule(deep, 8, Counts{1, 4, 4, 1}), (SkipSchedule{6, 10}));
}

TEST(SkipWindow, LastWindowIsShort) {
  // K = 6: lengths 4 and 2, port 3: staged at 2 and 3; done at 2+4 = 6 and 6+2 = 8.
  const SkipWindow array{.rows = 1, .window = 4, .depth = 2, .port = 3};
  EXPECT_EQ(skip_schedule(array, 6, Counts{4, 2}), (SkipSchedule{8, 6}));
  EXPECT_THROW(skip_schedule(array, 6, Counts{4, 3}), std::invalid_argument);
}

TEST(SkipWindow, WithoutSkippingEveryElementIsTaken) {
  SkipWindow array{.rows = 4, .window = 16, .depth = 1, .port = 4, .skip = false};
  const Counts two_rows(6, 1);
  // Depth 1: 4 + 16 per full window, then 1 + 3 for the last 3 elements.
  EXPECT_EQ(skip_schedule(array, 35, two_rows), (SkipSchedule{44, 70}));
  array.depth = 2;  // only the first staging shows
  EXPECT_EQ(skip_schedule(array, 35, two_rows), (SkipSchedule{39, 70}));
}

TEST(SkipWindow, UnusedRowsTakeOneCyclePerWindow) {
  const SkipWindow array{.rows = 3, .window = 2, .depth = 1, .port = 2};
  EXPECT_EQ(skip_schedule(array, 6, Counts{}), (SkipSchedule{6, 0}));
  EXPECT_EQ(skip_schedule(array, 6, Counts{1, 0, 1}), (SkipSchedule{6, 2}));
}

TEST(SkipWindow, CountsComeFromTheTile) {
  // -0 is zero, NaN is not.
  const std::vector<std::uint8_t> a = {0x00, 0x80, 0x7E, 0x01, 0x3C,  //
                                       0x00, 0x00, 0x80, 0x00, 0x80};
  EXPECT_EQ(nonzero_counts(a, formats::e5m2, 2, 5, 3), (Counts{1, 2, 0, 0}));
  EXPECT_EQ(nonzero_counts(a, Format::parse("e5m2:fnuz"), 2, 5, 3), (Counts{2, 2, 1, 1}));
  EXPECT_THROW(nonzero_counts(a, formats::e5m2, 2, 4, 3), std::invalid_argument);
}

TEST(SkipWindow, RefusesBadSizes) {
  const Counts counts(4, 0);
  EXPECT_THROW(skip_schedule({.rows = 0}, 32, counts), std::invalid_argument);
  EXPECT_THROW(skip_schedule({.depth = 0}, 32, counts), std::invalid_argument);
  EXPECT_THROW(skip_schedule({.port = 0}, 32, counts), std::invalid_argument);
  EXPECT_THROW(skip_schedule({.window = 0}, 32, counts), std::invalid_argument);
  EXPECT_THROW(skip_schedule({}, 0, counts), std::invalid_argument);
  EXPECT_THROW(skip_schedule({.rows = 1}, 32, counts), std::invalid_argument);  // two rows of counts
  EXPECT_THROW(skip_schedule({}, 33, counts), std::invalid_argument);           // three windows a row
}

TEST(SkipWindow, TrainingSpeedUpAt85PercentZeros) {
  const std::int64_t k = 3200;
  const int tiles = 20;
  const std::array<int, 3> depths = {1, 2, 4};
  const std::array<int, 3> ports = {4, 8, 16};
  const double expected[3][3] = {{1.57, 1.88, 2.00}, {1.67, 2.02, 2.19}, {1.74, 2.07, 2.20}};
  std::mt19937_64 engine(61);
  std::bernoulli_distribution nonzero(.15);
  std::vector<Counts> all;
  for (int tile = 0; tile < tiles; ++tile) {
    std::vector<std::uint8_t> a(16 * k);
    for (std::uint8_t& one : a) one = nonzero(engine) ? 0x3C : 0x00;
    all.push_back(nonzero_counts(a, formats::e5m2, 16, k, 16));
  }
  for (std::size_t p = 0; p < ports.size(); ++p) {
    for (std::size_t d = 0; d < depths.size(); ++d) {
      SkipWindow array{.depth = depths[d], .port = ports[p]};
      double skip = 0;
      for (const Counts& counts : all) skip += static_cast<double>(skip_schedule(array, k, counts).cycles);
      skip /= tiles;
      array.skip = false;
      const auto dense = static_cast<double>(skip_schedule(array, k, all[0]).cycles);
      EXPECT_NEAR(3 * dense / (dense + 2 * skip), expected[p][d], 0.01) << ports[p] << " " << depths[d];
    }
  }
}

}  // namespace
}  // namespace mantissa

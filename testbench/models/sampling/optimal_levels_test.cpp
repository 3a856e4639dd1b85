// Optimal levels against exhaustive search, and against equally spaced levels on skewed data.
#include "models/sampling/optimal_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace mantissa {
namespace {

// Mean over the data of (b - x)(x - a), the levels around x.
double mean_variance(const std::vector<float>& data, const std::vector<double>& levels) {
  double total = 0;
  for (const double x : data) {
    const auto above = std::lower_bound(levels.begin(), levels.end(), x);
    EXPECT_NE(above, levels.end());
    if (*above != x) total += (*above - x) * (x - *(above - 1));
  }
  return total / static_cast<double>(data.size());
}

// The best of all choices of `levels` points that keep both ends.
double exhaustive(const std::vector<float>& data, std::vector<double> points, int levels) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  const std::size_t inner = points.size() - 2;
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t choice = 0; choice < (1U << inner); ++choice) {
    if (std::popcount(choice) != std::min<int>(levels - 2, static_cast<int>(inner))) continue;
    std::vector<double> chosen{points.front()};
    for (std::size_t i = 0; i < inner; ++i) {
      if ((choice >> i & 1) != 0) chosen.push_back(points[i + 1]);
    }
    chosen.push_back(points.back());
    best = std::min(best, mean_variance(data, chosen));
  }
  return best;
}

std::vector<float> exponential(std::size_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::exponential_distribution<float> distribution(8.0F);
  std::vector<float> values(n);
  for (float& value : values) value = distribution(engine);
  return values;
}

std::vector<double> equally_spaced(double low, double high, int points) {
  std::vector<double> grid(points, high);
  for (int i = 0; i < points - 1; ++i) grid[i] = low + (high - low) * i / (points - 1);
  return grid;
}

TEST(OptimalLevels, EqualsExhaustiveSearch) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::vector<float> data = exponential(4 + seed % 9, seed);
    if (seed % 3 == 0) data.push_back(data.front());  // a repeated value
    if (seed % 4 == 0)
      for (float& value : data) value = 100 - value;  // far from zero, skewed the other way
    for (int levels = 2; levels <= 6; ++levels) {
      const OptimalLevels result = optimal_levels(data, levels);
      const double expected = exhaustive(data, {data.begin(), data.end()}, levels);
      EXPECT_NEAR(result.mean_variance, expected, 1e-12) << seed << " " << levels;
      EXPECT_NEAR(mean_variance(data, result.level), expected, 1e-12) << seed << " " << levels;
      EXPECT_LE(result.level.size(), static_cast<std::size_t>(levels));
      EXPECT_TRUE(std::is_sorted(result.level.begin(), result.level.end()));
    }
  }
}

TEST(OptimalLevels, NoLevelOffTheDataIsBetter) {
  std::mt19937 engine(3);
  const std::vector<float> data = exponential(60, 77);
  const OptimalLevels best = optimal_levels(data, 5);
  std::uniform_real_distribution<double> inside(best.level.front(), best.level.back());
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<double> levels{best.level.front(), inside(engine), inside(engine), inside(engine),
                               best.level.back()};
    std::sort(levels.begin(), levels.end());
    ASSERT_GE(mean_variance(data, levels), best.mean_variance - 1e-12);
  }
}

TEST(OptimalLevels, BeatsEquallySpacedLevelsOnSkewedData) {
  const std::vector<float> data = exponential(1000, 5);
  for (const int levels : {3, 5, 9, 17}) {
    const OptimalLevels best = optimal_levels(data, levels);
    const std::vector<double> uniform = equally_spaced(best.level.front(), best.level.back(), levels);
    EXPECT_LT(1.5 * best.mean_variance, mean_variance(data, uniform)) << levels;
  }
}

TEST(OptimalLevels, BucketedEqualsExhaustiveSearchOnItsGrid) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> data = exponential(50, 900 + seed);
    const auto [low, high] = std::minmax_element(data.begin(), data.end());
    const std::vector<double> grid = equally_spaced(*low, *high, 11);
    for (int levels = 2; levels <= 5; ++levels) {
      const OptimalLevels result = optimal_levels_bucketed(data, levels, 11);
      EXPECT_NEAR(result.mean_variance, exhaustive(data, grid, levels), 1e-12) << seed << " " << levels;
    }
  }
}

TEST(OptimalLevels, BucketedComesCloseToTheOptimum) {
  const std::vector<float> data = exponential(1000, 6);
  const double best = optimal_levels(data, 9).mean_variance;
  const double coarse = optimal_levels_bucketed(data, 9, 33).mean_variance;
  const double fine = optimal_levels_bucketed(data, 9, 513).mean_variance;
  EXPECT_GE(fine, best * (1 - 1e-9));
  EXPECT_LT(fine, best * 1.02);
  EXPECT_LT(fine, coarse);
}

TEST(OptimalLevels, FewDistinctValuesNeedNoMoreLevels) {
  const std::vector<float> data{2, 1, 2, 3, 1};
  EXPECT_EQ(optimal_levels(data, 8).level, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(optimal_levels(data, 8).mean_variance, 0);
  const std::vector<float> same{5, 5};
  EXPECT_EQ(optimal_levels(same, 4).level, std::vector<double>{5});
  EXPECT_EQ(optimal_levels_bucketed(same, 4, 9).level, std::vector<double>{5});
}

TEST(OptimalLevels, RefusesWhatHasNoAnswer) {
  const std::vector<float> data{1, 2, 3};
  EXPECT_THROW(optimal_levels({}, 4), std::invalid_argument);
  EXPECT_THROW(optimal_levels(data, 1), std::invalid_argument);
  EXPECT_THROW(optimal_levels(std::vector<float>{1, std::numeric_limits<float>::infinity()}, 4),
               std::invalid_argument);
  EXPECT_THROW(optimal_levels_bucketed(data, 4, 3), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

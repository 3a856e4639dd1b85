// Figures of accuracy on tensors whose figures are known.
#include "sim/replay/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace mantissa::replay {
namespace {

const Grid e5m2{formats::e5m2, 0};

TEST(Accuracy, ExactResultsHaveNoNoise) {
  const std::vector<float> x = {1, -2, 0.5F, 0};
  const std::vector<double> reference(x.begin(), x.end());
  const Accuracy accuracy = measure_accuracy<double>(x, reference, e5m2, 1);
  EXPECT_EQ(accuracy.elements, 4U);
  EXPECT_EQ(accuracy.sqnr_db, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(accuracy.cosine, 1);
  EXPECT_EQ(accuracy.max_ulp, 0);
  EXPECT_EQ(accuracy.bias, 0);
}

TEST(Accuracy, AQuarterTooLargeIsTwelveDecibel) {
  std::vector<double> reference;
  std::vector<float> x;
  for (int i = 1; i <= 40000; ++i) {  // more than two blocks
    reference.push_back(i % 2 == 0 ? i : -i);
    x.push_back(static_cast<float>(1.25 * reference.back()));
  }
  const Accuracy accuracy = measure_accuracy<double>(x, reference, std::nullopt, 2);
  EXPECT_NEAR(accuracy.sqnr_db, 20 * std::log10(4.0), 1e-9);
  EXPECT_NEAR(accuracy.cosine, 1, 1e-12);
  EXPECT_TRUE(std::isnan(accuracy.max_ulp));
  // Signs cancel in the mean difference: 40000 / 2 pairs of +1 and -1, a quarter of each.
  EXPECT_NEAR(accuracy.bias, 0.25 * 20000 / (40000.0 * 40001 / 2), 1e-12);
}

TEST(Accuracy, UnitsAreTheFormatsSpacingAtTheReference) {
  const auto ulp = [](float result, double reference, const Grid& grid) {
    return measure_accuracy<double>(std::vector<float>{result}, std::vector<double>{reference}, grid, 1)
        .max_ulp;
  };
  EXPECT_DOUBLE_EQ(ulp(1.5F, 1.0, e5m2), 2);             // 0.25 apart in [1, 2)
  EXPECT_NEAR(ulp(2.0F, 1.9, e5m2), 0.1 / 0.25, 1e-12);  // of the reference's binade
  EXPECT_DOUBLE_EQ(ulp(0x1p-16F, 0, e5m2), 1);           // subnormal spacing at zero
  EXPECT_DOUBLE_EQ(ulp(0x1p-16F, 0x1p-17, e5m2), 0.5);
  EXPECT_DOUBLE_EQ(ulp(0x1p-20F, 0, {formats::e5m2, 4}), 1);  // a scale moves the grid
  EXPECT_DOUBLE_EQ(ulp(1.0F, 0x1p0 + 0x1p-23, {}), 1);        // FP32
}

TEST(Accuracy, ResultsThatAreNotFiniteLeaveNoFigure) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {inf, std::nanf(""), 3};
  const std::vector<float> reference = {1, 2, 3};
  const Accuracy accuracy = measure_accuracy<float>(x, reference, e5m2, 1);
  EXPECT_EQ(accuracy.nonfinite, 2U);
  EXPECT_EQ(accuracy.elements, 3U);
  for (const double figure : {accuracy.sqnr_db, accuracy.cosine, accuracy.max_ulp, accuracy.bias})
    EXPECT_TRUE(std::isnan(figure));
}

TEST(Accuracy, NothingToCompareWithIsNotANumber) {
  const std::vector<float> x = {0, 1};
  const std::vector<float> zeros = {0, 0};
  const Accuracy accuracy = measure_accuracy<float>(x, zeros, e5m2, 1);
  EXPECT_TRUE(std::isnan(accuracy.sqnr_db));
  EXPECT_TRUE(std::isnan(accuracy.cosine));
  EXPECT_TRUE(std::isnan(accuracy.bias));
}

TEST(Accuracy, DoesNotDependOnThreads) {
  std::mt19937_64 engine(4);
  std::normal_distribution<float> normal;
  std::vector<float> x(100001);
  std::vector<float> reference(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    reference[i] = normal(engine);
    x[i] = reference[i] + 0.01F * normal(engine);
  }
  const Accuracy one = measure_accuracy<float>(x, reference, e5m2, 1);
  for (const int threads : {2, 3, 7}) {
    const Accuracy many = measure_accuracy<float>(x, reference, e5m2, threads);
    EXPECT_EQ(many.sqnr_db, one.sqnr_db);
    EXPECT_EQ(many.cosine, one.cosine);
    EXPECT_EQ(many.bias, one.bias);
    EXPECT_EQ(many.max_ulp, one.max_ulp);
  }
}

}  // namespace
}  // namespace mantissa::replay

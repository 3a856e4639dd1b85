#include "models/sparsity/empirical_threshold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace mantissa {
namespace {

// The expected share of zeros, element by element.
double expected_zeros(const std::vector<float>& gradient, double tau) {
  double zeros = 0;
  for (const float g : gradient) {
    const double magnitude = std::fabs(static_cast<double>(g));
    if (magnitude < tau) zeros += 1 - magnitude / tau;
    if (magnitude == 0 && tau == 0) zeros += 1;
  }
  return zeros / static_cast<double>(gradient.size());
}

TEST(EmpiricalThreshold, LeavesTheShareOfZerosThatIsWanted) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  for (const double sigma : {0.3, 1.0, 3.0}) {
    std::vector<float> gradient;
    for (int i = 0; i < 5000; ++i) {
      const auto magnitude = static_cast<float>(std::exp(sigma * normal(engine)));
      gradient.push_back(i % 3 == 0 ? 0.0F : i % 2 == 0 ? magnitude : -magnitude);
    }
    for (const double sparsity : {0.4, 0.5, 0.85, 0.99})
      EXPECT_NEAR(expected_zeros(gradient, empirical_tau(gradient, sparsity)), sparsity, 1e-9) << sigma;
  }
}

TEST(EmpiricalThreshold, ByHand) {
  // 1 and 3: with tau = 4 three quarters and one quarter of a zero are expected, one of two elements.
  EXPECT_DOUBLE_EQ(empirical_tau(std::vector<float>{1, -3}, 0.5), 4);
  // With tau = 2 half a zero of 1 is expected, a quarter of the elements.
  EXPECT_DOUBLE_EQ(empirical_tau(std::vector<float>{1, -3}, 0.25), 2);
}

TEST(EmpiricalThreshold, EdgesOfWhatIsPossible) {
  EXPECT_EQ(empirical_tau({}, 0.5), 0);
  EXPECT_EQ(empirical_tau(std::vector<float>{0, 0}, 0.5), 0);
  // Enough zeros already: nothing is pruned.
  EXPECT_EQ(empirical_tau(std::vector<float>{0, 0, 2, 5}, 0.5), 2);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(empirical_tau(std::vector<float>{infinity, infinity, infinity, 1}, 0.5), 1);
  EXPECT_THROW(empirical_tau(std::vector<float>{1}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// Kolmogorov-Smirnov distances against closed forms, and gradients drawn from each family.
#include "sim/trace/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "sim/trace/gradient.hpp"
#include "testbench/models/sparsity/lognormal_data.hpp"

namespace mantissa::test {
namespace {

using trace::ks_distance;

TEST(KsDistance, OfMidpointsFromUniformIsHalfAStep) {
  std::vector<double> sorted(50);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = (static_cast<double>(i) + 0.5) / 50;
  EXPECT_NEAR(ks_distance(sorted, [](double x) { return x; }), 0.01, 1e-15);
}

TEST(KsDistance, OfUniformFromItsSquareIsAQuarter) {
  // sup |x - x^2| is 1/4, at 1/2.
  std::vector<double> sorted(10000);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = (static_cast<double>(i) + 0.5) / 10000;
  EXPECT_NEAR(ks_distance(sorted, [](double x) { return x * x; }), 0.25, 1e-4);
}

TEST(KsDistance, CountsTiesOnce) {
  // Four of five at 0.9: the share below 0.9 is 0.2, and F there is 0.9.
  const std::vector<double> sorted{0.1, 0.9, 0.9, 0.9, 0.9};
  EXPECT_NEAR(ks_distance(sorted, [](double x) { return x; }), 0.7, 1e-15);
}

TEST(KsDistance, OfOnePoint) {
  EXPECT_NEAR(ks_distance(std::vector<double>{0.3}, [](double x) { return x; }), 0.7, 1e-15);
}

double normal(double x, double mean, double deviation) {
  return 0.5 * std::erfc((mean - x) / (deviation * std::sqrt(2.0)));
}
double laplace(double x, double scale) {
  return x < 0 ? 0.5 * std::exp(x / scale) : 1 - 0.5 * std::exp(-x / scale);
}

// sup |F - G| over a fine grid, by the definition.
template <class F, class G>
double supremum(F f, G g) {
  double largest = 0;
  for (int step = -20000; step <= 20000; ++step) {
    const double x = step * 1e-3;
    largest = std::max(largest, std::fabs(f(x) - g(x)));
  }
  return largest;
}

TEST(Distribution, EachFamilyIsClosestToItself) {
  constexpr std::size_t count = 20000;
  std::mt19937_64 engine(7);
  std::vector<float> normals(count);
  std::vector<float> laplaces(count);
  std::normal_distribution<float> draw(0.F, 1.F);
  std::exponential_distribution<float> tail(1.F);
  for (float& value : normals) value = draw(engine);
  for (float& value : laplaces) value = (engine() & 1) != 0 ? -tail(engine) : tail(engine);
  const GradientReport of_normal = trace::describe_gradient(normals);
  const GradientReport of_laplace = trace::describe_gradient(laplaces);
  const GradientReport of_lognormal = trace::describe_gradient(lognormal_gradient(count, -8, 2, 1));
  const double noise = 1.63 / std::sqrt(static_cast<double>(count));  // the 99 % quantile of a true fit
  EXPECT_LT(of_normal.ks_normal, noise);
  EXPECT_LT(of_laplace.ks_laplace, noise);
  EXPECT_LT(of_lognormal.ks_lognormal, noise);
  EXPECT_GT(of_lognormal.ks_normal, 0.2);
  EXPECT_GT(of_lognormal.ks_laplace, 0.1);
  // Between the families the distance is known. Laplace's deviation is sqrt(2) times its scale, a normal
  // sample's mean magnitude sqrt(2 / pi).
  const double laplace_from_normal =
      supremum([](double x) { return laplace(x, 1); }, [](double x) { return normal(x, 0, std::sqrt(2.0)); });
  EXPECT_NEAR(of_laplace.ks_normal, laplace_from_normal, noise);
  const double normal_from_laplace =
      supremum([](double x) { return normal(x, 0, 1); },
               [](double x) { return laplace(x, std::sqrt(2 / std::acos(-1.0))); });
  EXPECT_NEAR(of_normal.ks_laplace, normal_from_laplace, noise);
}

// Errors that passed a narrow format: far below 2^-23, few distinct values, each many times.
TEST(Distribution, TiesAmongTinyValuesAreInOrder) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> draw(2, 1);
    std::vector<float> tiny(65536);
    for (float& value : tiny) {
      const double steps = std::round(draw(engine));
      value = static_cast<float>(std::ldexp(steps == 0 ? 1 : steps, -36));
    }
    const trace::KsDistances distances = trace::ks_distances(tiny, -24, 1);
    std::vector<double> magnitudes(tiny.size());
    std::transform(tiny.begin(), tiny.end(), magnitudes.begin(),
                   [](float value) { return std::fabs(value); });
    std::sort(magnitudes.begin(), magnitudes.end());
    const double expected = ks_distance(magnitudes, [](double x) { return normal(std::log(x), -24, 1); });
    EXPECT_NEAR(distances.lognormal, expected, 1e-12) << "seed " << seed;
  }
}

TEST(Gradient, ZerosAndWhatIsNotFiniteAreLeftOut) {
  std::vector<float> gradient = lognormal_gradient(1000, -3, 1.5, 3);
  const GradientReport plain = trace::describe_gradient(gradient);
  for (std::ptrdiff_t i = 0; i < 1000; ++i) gradient.insert(gradient.begin() + 2 * i, 0.F);
  GradientReport with_zeros = trace::describe_gradient(gradient);
  EXPECT_EQ(with_zeros.zero_share, 0.5);
  EXPECT_EQ(with_zeros.mu, plain.mu);
  EXPECT_EQ(with_zeros.sigma, plain.sigma);
  EXPECT_EQ(with_zeros.ks_lognormal, plain.ks_lognormal);
  EXPECT_EQ(with_zeros.ks_laplace, plain.ks_laplace);
  EXPECT_EQ(with_zeros.histogram, plain.histogram);
  gradient.push_back(std::numeric_limits<float>::infinity());
  gradient.push_back(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(trace::describe_gradient(gradient).ks_normal, plain.ks_normal);
}

TEST(Gradient, HistogramHasHalfBinades) {
  const GradientReport report =
      trace::describe_gradient(std::vector<float>{0.25F, -0.3F, 0.49F, 1, 0, 1.5F, 1.99F, -1});
  EXPECT_EQ(report.histogram_width, 0.5);
  EXPECT_EQ(report.histogram_first, -2);
  // [1/4, 0.354) 2, [0.354, 1/2) 1, nothing up to 1, [1, 1.414) 2, [1.414, 2) 2.
  const std::vector<double> expected{2 / 7., 1 / 7., 0, 0, 2 / 7., 2 / 7.};
  EXPECT_EQ(report.histogram, expected);
  const std::vector<double> extremes =
      trace::describe_gradient(std::vector<float>{0x1p-149F, 0x1.8p127F}).histogram;
  EXPECT_EQ(extremes.size(), 2U * (127 + 149) + 2);
  EXPECT_EQ(extremes.front() + extremes.back(), 1.0);
}

TEST(Gradient, NothingIsNoGradient) {
  for (const std::vector<float>& gradient : {std::vector<float>{}, std::vector<float>{0, 0}}) {
    const GradientReport report = trace::describe_gradient(gradient);
    EXPECT_EQ(report.elements, gradient.size());
    EXPECT_TRUE(report.histogram.empty());
    EXPECT_EQ(report.ks_lognormal, 0);
  }
  const GradientReport equal = trace::describe_gradient(std::vector<float>(5, 2.F));
  EXPECT_EQ(equal.ks_lognormal + equal.ks_normal + equal.ks_laplace, 0);
}

TEST(Gradient, LargeOnesAreSampledEvenly) {
  // Sampling must take every part: the second half of this one is of another scale.
  std::vector<float> gradient = lognormal_gradient(300000, 0, 1, 5);
  const std::vector<float> other = lognormal_gradient(300000, 4, 1, 6);
  gradient.insert(gradient.end(), other.begin(), other.end());
  const GradientReport report = trace::describe_gradient(gradient);
  // ln|g| is half N(0, 1), half N(4, 1): deviation sqrt(1 + 4) about 2.
  EXPECT_NEAR(report.sigma, std::sqrt(5.0), 0.01);
  const double expected = supremum([](double x) { return (normal(x, 0, 1) + normal(x, 4, 1)) / 2; },
                                   [](double x) { return normal(x, 2, std::sqrt(5.0)); });
  EXPECT_NEAR(report.ks_lognormal, expected, 0.01);
}

TEST(Gradient, BestFormatFollowsSigma) {
  GradientReport report;
  report.mu = -10;
  report.sigma = 0.7;
  EXPECT_EQ(trace::best_fp8(report).scale, 14);  // 10 / ln 2 = 14.4
  const int narrow = trace::best_fp8(report).choice.format.exponent_bits;
  report.sigma = 4;
  EXPECT_GT(trace::best_fp8(report).choice.format.exponent_bits, narrow);
  report.sigma = 90;  // beyond what the chooser takes
  EXPECT_NO_THROW(trace::best_fp8(report));
}

}  // namespace
}  // namespace mantissa::test

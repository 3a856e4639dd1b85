// The lognormal fit and threshold solver against tabulated thresholds, a second closed form, and data.
#include "models/sparsity/lognormal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "models/format/exact.hpp"
#include "models/sparsity/pruner.hpp"
#include "testbench/models/sparsity/lognormal_data.hpp"

namespace mantissa {
namespace {

using std::numbers::ln2;
using std::numbers::sqrt2;

// The form printed in the paper's reference code.
double share_with_erf(double log_alpha, double sigma) {
  const double alpha = std::exp(log_alpha);
  const double moment = std::exp(sigma * sigma / 2);
  return 0.5 + (moment * std::erf(sigma / sqrt2 - log_alpha / (sqrt2 * sigma)) +
                alpha * std::erf(log_alpha / (sqrt2 * sigma)) - moment) /
                   (2 * alpha);
}

TEST(Lognormal, BothClosedFormsOfTheShareAgree) {
  for (const double sigma : {0.3, 0.5, 1.0, 2.0, 3.0, 4.0}) {
    for (int quarters = -8; quarters < 60; ++quarters) {
      const double log_alpha = 0.25 * quarters;
      ASSERT_NEAR(pruned_share(log_alpha, sigma), share_with_erf(log_alpha, sigma),
                  1e-14 * std::exp(sigma * sigma / 2 - log_alpha) + 1e-14)
          << sigma << " " << log_alpha;
    }
  }
}

TEST(Lognormal, ShareIsTheIntegralOfItsDefinition) {
  // E[(1 - x/tau) 1(x < tau)] by the midpoint rule over ln x.
  for (const double sigma : {0.5, 1.0, 3.0}) {
    for (const double log_alpha : {-1.0, 0.5, 3.0, 7.0}) {
      const double low = -12 * sigma;
      const int steps = 200000;
      const double width = (log_alpha - low) / steps;
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        const double t = low + (i + 0.5) * width;
        sum += (1 - std::exp(t - log_alpha)) * std::exp(-t * t / (2 * sigma * sigma));
      }
      const double integral = sum * width / (sigma * std::sqrt(2 * std::numbers::pi));
      ASSERT_NEAR(pruned_share(log_alpha, sigma), integral, 1e-8) << sigma << " " << log_alpha;
    }
  }
}

TEST(Lognormal, SolverReproducesTheTable) {
  for (const test::ThresholdRow& row : test::threshold_table) {
    for (std::size_t i = 0; i < row.log2_alpha.size(); ++i) {
      const double share = test::table_sparsity[i];
      const double log_alpha = log_alpha_for_share(share, row.sigma);
      EXPECT_NEAR(log_alpha / ln2, row.log2_alpha[i], 0.0005 + 1e-9) << row.sigma << " " << share;
      EXPECT_NEAR(pruned_share(log_alpha, row.sigma), share, 1e-13);
    }
  }
}

TEST(Lognormal, SolverReachesBothEnds) {
  for (const double sigma : {0.0, 1e-3, 1.0, 20.0}) {
    for (const double share : {1e-6, 0.5, 1 - 1e-6}) {
      EXPECT_NEAR(pruned_share(log_alpha_for_share(share, sigma), sigma), share, 1e-9)
          << sigma << " " << share;
    }
  }
  // All magnitudes equal: alpha = 1 / (1 - S).
  EXPECT_NEAR(log_alpha_for_share(0.75, 0), std::log(4.0), 1e-12);
  EXPECT_THROW(log_alpha_for_share(0, 1), std::invalid_argument);
  EXPECT_THROW(log_alpha_for_share(1, 1), std::invalid_argument);
  EXPECT_THROW(log_alpha_for_share(0.5, -1), std::invalid_argument);
  EXPECT_THROW(log_alpha_for_share(0.5, 21), std::invalid_argument);
  EXPECT_THROW(log_alpha_for_share(0.5, std::nan("")), std::invalid_argument);
}

TEST(Lognormal, SolverStopsWhereItsIntervalEnds) {
  // Ten deviations below the median the share is 6.6e-25 by the closed form.
  EXPECT_EQ(log_alpha_for_share(1e-300, 1), -10);
  // All magnitudes equal: as near to their logarithm as double tells.
  EXPECT_NEAR(log_alpha_for_share(1e-300, 0), 0, 1e-15);
}

TEST(Lognormal, CosineReproducesTheTable) {
  struct Row {
    double sigma;
    double sparsity;
    double cosine;
  };
  const std::vector<Row> rows = {{1.0, .50, .949}, {1.0, .85, .628}, {1.0, .90, .518}, {1.5, .85, .899},
                                 {1.5, .90, .819}, {2.0, .85, .993}, {2.0, .90, .982}, {2.0, .95, .939}};
  for (const Row& row : rows) {
    const double log_alpha = log_alpha_for_share(row.sparsity, row.sigma);
    const double cosine = pruned_cosine(log_alpha, row.sigma);
    EXPECT_NEAR(cosine, row.cosine, 0.0005 + 1e-9) << row.sigma << " " << row.sparsity;
    EXPECT_NEAR(log_alpha_for_cosine(cosine, row.sigma), log_alpha, 1e-6);
  }
  for (const double sigma : {2.5, 3.0, 5.0}) {
    EXPECT_GE(pruned_cosine(log_alpha_for_share(.95, sigma), sigma), 0.997) << sigma;
  }
}

// At sigma 0.5 the second moments of 400,000 samples are accurate, so the measured angle must be that of the
// closed form.
TEST(Lognormal, CosineIsTheMeasuredOne) {
  const double sigma = 0.5;
  const std::vector<float> g = test::lognormal_gradient(400000, 0, sigma, 31);
  for (const double sparsity : {.5, .85}) {
    const double log_alpha = log_alpha_for_share(sparsity, sigma);
    const Pruner pruner{.tau = tau_code(std::exp(log_alpha), formats::fp32)};
    std::vector<float> pruned(g.size());
    prune_tensor<float>(g, pruner, {.run_seed = 1}, pruned);
    double dot = 0;
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      dot += static_cast<double>(g[i]) * pruned[i];
      before += static_cast<double>(g[i]) * g[i];
      after += static_cast<double>(pruned[i]) * pruned[i];
    }
    EXPECT_NEAR(dot / std::sqrt(before * after), pruned_cosine(log_alpha, sigma), 0.005);
  }
}

// With a wide sigma the plain moments live on magnitudes that the tensor does not have; the tail cuts them.
TEST(Lognormal, TailLowersTheCosine) {
  const double sigma = 3;
  const double log_alpha = log_alpha_for_share(.9, sigma);
  const double plain = pruned_cosine(log_alpha, sigma);
  const double cut = pruned_cosine(log_alpha, sigma, 2.713);
  EXPECT_GT(plain, 0.999);
  EXPECT_LT(cut, plain);
  EXPECT_NEAR(pruned_cosine(log_alpha, sigma, 40), plain, 1e-12);
  EXPECT_NEAR(pruned_cosine(log_alpha_for_cosine(.95, sigma, 2.713), sigma, 2.713), .95, 1e-9);
  EXPECT_THROW(log_alpha_for_cosine(1, sigma), std::invalid_argument);
  EXPECT_THROW(log_alpha_for_cosine(0, sigma), std::invalid_argument);
}

TEST(Lognormal, FitOfAHandfulOfValues) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> g = {1, -2, 4, 0, -0.0F, inf, std::numeric_limits<float>::quiet_NaN()};
  const LognormalFit fit = fit_lognormal(g);
  EXPECT_EQ(fit.elements, 7U);
  EXPECT_EQ(fit.zeros, 2U);
  EXPECT_EQ(fit.nonfinite, 2U);
  EXPECT_EQ(fit.smallest, 1.0F);
  EXPECT_DOUBLE_EQ(fit.zero_share(), 2.0 / 7);
  EXPECT_NEAR(fit.mu, ln2, 1e-15);
  EXPECT_NEAR(fit.sigma, ln2, 1e-15);  // of -1, 0, 1 times ln 2, divided by n - 1
  EXPECT_NEAR(fit.tail, 1, 1e-12);
}

TEST(Lognormal, FitOfDegenerateTensors) {
  const LognormalFit empty = fit_lognormal({});
  EXPECT_EQ(tau_for_sparsity(.9, empty), 0);
  const LognormalFit zeros = fit_lognormal(std::vector<float>{0, 0, -0.0F});
  EXPECT_EQ(zeros.zero_share(), 1);
  EXPECT_EQ(tau_for_sparsity(.9, zeros), 0);
  const LognormalFit not_numbers =
      fit_lognormal(std::vector<float>{0, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(tau_for_sparsity(.9, not_numbers), 0);
  const LognormalFit one = fit_lognormal(std::vector<float>{-3});
  EXPECT_EQ(one.sigma, 0);
  EXPECT_NEAR(tau_for_sparsity(.75, one), 12, 1e-9);
}

TEST(Lognormal, FitRecoversItsParameters) {
  const std::size_t count = 100000;
  const std::vector<float> g = test::lognormal_gradient(count, -9.5, 2.5, 32);
  const LognormalFit fit = fit_lognormal(g);
  const double error = 2.5 / std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(fit.mu, -9.5, 5 * error);
  EXPECT_NEAR(fit.sigma, 2.5, 5 * error / sqrt2);
  EXPECT_NEAR(fit.tail, 2.713, 0.1);  // the normal quantile of 1 - 1/300
}

TEST(Lognormal, ThresholdCountsExistingZeros) {
  std::vector<float> g = test::lognormal_gradient(200000, -7, 2, 33);
  for (std::size_t i = 0; i < g.size(); i += 5) g[i] = 0;  // a fifth
  const LognormalFit fit = fit_lognormal(g);
  const double tau = tau_for_sparsity(.85, fit);
  // The non-zero part must reach (0.85 - 0.2) / 0.8.
  EXPECT_NEAR(std::log(tau) - fit.mu, log_alpha_for_share(.8125, fit.sigma), 1e-12);
  EXPECT_NEAR(sparsity_at(tau, fit), .85, 1e-12);
  std::vector<float> pruned(g.size());
  const PruneCounts counts =
      prune_tensor<float>(g, {.tau = tau_code(tau, formats::fp32)}, {.run_seed = 4}, pruned);
  EXPECT_EQ(counts.zeros_in, g.size() / 5);
  EXPECT_NEAR(static_cast<double>(counts.zeros()) / static_cast<double>(g.size()), .85,
              5 * std::sqrt(.85 * .15 / static_cast<double>(g.size())));
  // Enough zeros already: the threshold prunes nothing.
  EXPECT_EQ(tau_for_sparsity(.2, fit), fit.smallest);
  EXPECT_EQ(sparsity_at(fit.smallest, fit), fit.zero_share());
  EXPECT_THROW(tau_for_sparsity(1, fit), std::invalid_argument);
  EXPECT_THROW(tau_for_sparsity(-.1, fit), std::invalid_argument);
}

TEST(Lognormal, ThresholdRegisterIsInTheFormat) {
  EXPECT_EQ(tau_code(1.5, formats::fp32), 0x3FC00000U);
  EXPECT_EQ(tau_code(1.1, formats::e5m2), 0x3CU);
  EXPECT_EQ(tau_code(1e9, formats::e4m3), formats::e4m3.max_code());
  EXPECT_EQ(tau_code(std::numeric_limits<double>::infinity(), formats::fp32), formats::fp32.max_code());
  EXPECT_EQ(tau_code(0, formats::e4m3), 0U);
  EXPECT_THROW(tau_code(-1, formats::fp32), std::invalid_argument);
  EXPECT_THROW(tau_code(std::nan(""), formats::fp32), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

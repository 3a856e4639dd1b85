// Standard batch norm against plain hardware floats and finite differences in double precision.
#include "models/norm/batch_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "testbench/models/norm/channel_data.hpp"

namespace mantissa {
namespace {

using test::bits_of;
using test::gaussian;

void expect_equals_plain_floats(const std::vector<float>& x, const std::vector<float>& g, float gamma,
                                float beta) {
  const std::size_t n = x.size();
  const float rn = 1.0F / static_cast<float>(n);
  float sum = 0.0F;
  float squares = 0.0F;
  for (const float value : x) sum += value;
  const float mean = sum * rn;
  for (const float value : x) squares += (value - mean) * (value - mean);
  const float inv = 1.0F / std::sqrt(squares * rn + 1e-5F);

  std::vector<float> y(n);
  const BatchNormSaved saved = batch_norm_forward(x, gamma, beta, y);
  ASSERT_EQ(bits_of(saved.mean), bits_of(mean));
  ASSERT_EQ(bits_of(saved.inv), bits_of(inv));
  float dbeta = 0.0F;
  float dgamma = 0.0F;
  float sh = 0.0F;
  float shx = 0.0F;
  for (std::size_t i = 0; i < n; ++i) {
    const float xhat = (x[i] - mean) * inv;
    ASSERT_EQ(bits_of(y[i]), bits_of(std::fma(xhat, gamma, beta))) << i;
    dbeta += g[i];
    dgamma += g[i] * xhat;
    sh += gamma * g[i];
    shx += (gamma * g[i]) * xhat;
  }
  std::vector<float> dx(n);
  const NormGradients gradients = batch_norm_backward(x, g, gamma, saved, dx);
  ASSERT_EQ(bits_of(gradients.gamma), bits_of(dgamma));
  ASSERT_EQ(bits_of(gradients.beta), bits_of(dbeta));
  for (std::size_t i = 0; i < n; ++i) {
    const float xhat = (x[i] - mean) * inv;
    const float expected = ((gamma * g[i] - sh * rn) - xhat * (shx * rn)) * inv;
    ASSERT_EQ(bits_of(dx[i]), bits_of(expected)) << i;
  }
}

TEST(BatchNorm, EqualsPlainFloatsInTheStatedOrder) {
  std::uint32_t seed = 500;
  for (const std::size_t n : {2, 3, 64, 500}) {
    for (const float sigma : {1.0F, 1e-6F, 3e4F, 1e30F}) {
      const std::vector<float> x = gaussian(n, ++seed, 0.2F * sigma, sigma);
      expect_equals_plain_floats(x, gaussian(n, ++seed), 0.8F, 0.1F);
    }
  }
  expect_equals_plain_floats({1, std::numeric_limits<float>::quiet_NaN(), 3}, {1, 2, 3}, 1.0F, 0.0F);
}

TEST(BatchNorm, OutputHasZeroMeanAndUnitVariance) {
  const std::vector<float> x = gaussian(4096, 9, 5.0F, 3.0F);
  std::vector<float> y(x.size());
  batch_norm_forward(x, 1.0F, 0.0F, y);
  double mean = 0;
  double square = 0;
  for (const double value : y) {
    mean += value / static_cast<double>(y.size());
    square += value * value / static_cast<double>(y.size());
  }
  EXPECT_NEAR(mean, 0, 1e-5);
  EXPECT_NEAR(square, 1, 1e-4);
}

double reference_loss(const std::vector<double>& x, double gamma, double beta, const std::vector<float>& g) {
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  double variance = 0;
  double loss = 0;
  for (const double value : x) mean += value / n;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    loss += g[i] * (gamma * (x[i] - mean) / std::sqrt(variance + 1e-5) + beta);
  }
  return loss;
}

TEST(BatchNorm, BackwardEqualsFiniteDifferences) {
  const std::vector<float> x = gaussian(48, 41, -0.5F, 1.5F);
  const std::vector<float> g = gaussian(48, 42, 0.2F, 1.0F);
  const float gamma = 1.25F;
  const float beta = -0.5F;
  std::vector<float> y(48);
  std::vector<float> dx(48);
  const BatchNormSaved saved = batch_norm_forward(x, gamma, beta, y);
  const NormGradients gradients = batch_norm_backward(x, g, gamma, saved, dx);
  const std::vector<double> at(x.begin(), x.end());
  const auto loss = [&](const std::vector<double>& p) { return reference_loss(p, gamma, beta, g); };
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(dx[i], test::central_difference(loss, at, i), 1e-5) << i;
  }
  const auto by_affine = [&](const std::vector<double>& p) { return reference_loss(at, p[0], p[1], g); };
  EXPECT_NEAR(gradients.gamma, test::central_difference(by_affine, {gamma, beta}, 0), 1e-4);
  EXPECT_NEAR(gradients.beta, test::central_difference(by_affine, {gamma, beta}, 1), 1e-4);
}

TEST(BatchNorm, RefusesUnequalLengths) {
  const std::vector<float> x(4);
  std::vector<float> y(3);
  EXPECT_THROW(batch_norm_forward(x, 1, 0, y), std::invalid_argument);
  EXPECT_THROW(batch_norm_backward(x, y, 1, {}, y), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

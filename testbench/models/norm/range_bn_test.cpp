// Range BN against plain hardware floats, MPFR constants, and finite differences in double precision.
#include "models/norm/range_bn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/format/convert.hpp"
#include "testbench/models/norm/channel_data.hpp"
#include "testbench/models/norm/straight_range_bn.hpp"

namespace mantissa {
namespace {

using test::bits_of;
using test::expect_equals_straight;
using test::gaussian;
using test::mpfr_range_constant;

void expect_constant(long n) {
  for (const RangeConstant kind : {RangeConstant::paper, RangeConstant::reference}) {
    ASSERT_EQ(range_constant(n, kind), mpfr_range_constant(n, kind)) << n;
  }
}

TEST(RangeConstant, IsCorrectlyRounded) {
  for (long n = 2; n <= 20000; ++n) expect_constant(n);
  for (long n = 32768; n <= (1L << 40); n *= 2) {
    for (long offset : {-1, 0, 1}) expect_constant(n + offset);
  }
}

TEST(LongRangeConstant, IsCorrectlyRoundedForAllChannelLengths) {
  for (long n = 2; n <= (1L << 22); ++n) expect_constant(n);
}

// Channels that take turns (ARITHMETIC.md 8, "Fused").
TEST(RangeBnSums, TwoChannelsInTurn) {
  const float x[] = {1, -2, 4, 3};
  const float g[] = {1, 0, 0, 0.5F};
  const float sums[] = {1, -1, 3, 6};
  const float maxima[] = {0, 1, 1, 5};
  const float minima[] = {0, -2, -2, 1};
  const float g_sums[] = {1, 1, 1, 1.5F};
  const std::uint32_t g_xhat[] = {0xBE0E16C4, 0xBE0E16C4, 0xBE0E16C4, 0x3D8E16C4};
  const std::uint32_t h_xhat[] = {0xBE8E16C4, 0xBE8E16C4, 0xBE8E16C4, 0x3E0E16C4};
  RangeBnSums forward;
  GradientSums backward;
  for (int i = 0; i < 4; ++i) {
    forward.add(x[i], i, i % 2 == 0, i % 2 == 1);
    backward.add(x[i], g[i], 2.0F, 1.5F, fp32_value(0x3E8E16C4));
    EXPECT_EQ(forward.x, sums[i]) << i;
    EXPECT_EQ(forward.maxima, maxima[i]) << i;
    EXPECT_EQ(forward.minima, minima[i]) << i;
    if (i % 2 == 1) {
      EXPECT_EQ(forward.argmax, i == 1 ? 0 : 2);
      EXPECT_EQ(forward.argmin, i == 1 ? 1 : 3);
    }
    EXPECT_EQ(backward.g, g_sums[i]) << i;
    EXPECT_EQ(backward.h, 2 * g_sums[i]) << i;
    EXPECT_EQ(bits_of(backward.g_xhat), g_xhat[i]) << i;
    EXPECT_EQ(bits_of(backward.h_xhat), h_xhat[i]) << i;
  }
  EXPECT_FALSE(forward.has_nan);
}

TEST(RangeConstant, RefusesWhatHasNoValue) {
  EXPECT_THROW(range_constant(1, RangeConstant::paper), std::invalid_argument);
  EXPECT_EQ(parse_range_constant("paper"), RangeConstant::paper);
  EXPECT_EQ(parse_range_constant("reference"), RangeConstant::reference);
  EXPECT_THROW(parse_range_constant("banner"), std::invalid_argument);
}

TEST(ReciprocalOf, IsTheHardwareQuotient) {
  for (std::int64_t n = 1; n <= 100000; ++n) ASSERT_EQ(reciprocal_of(n), 1.0F / static_cast<float>(n)) << n;
  EXPECT_THROW(reciprocal_of(0), std::invalid_argument);
}

// E[max - min] of n standard Gaussians = integral of 1 - F^n - (1-F)^n.
double expected_range(double n) {
  const double step = 1e-3;
  double integral = 0;
  for (int i = -12000; i < 12000; ++i) {
    const double x = i * step;
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double above = 0.5 * std::erfc(x / std::sqrt(2.0));
    integral += (1 - std::pow(below, n) - std::pow(above, n)) * step;
  }
  return integral;
}

TEST(RangeBn, ScaleIsAFewTenthsBelowTwoSigmaOnGaussianData) {
  struct Row {
    std::size_t n;
    int channels;
    double published;
  };
  // Mean of C(n)*range/sigma. The rows' published figures come from sampling: 1.76 is really 1.778.
  for (const Row& row : {Row{64, 8000, 1.63}, Row{256, 2000, 1.70}, Row{1024, 600, 1.74},
                         Row{4096, 200, 1.76}, Row{16384, 60, 1.80}}) {
    const std::vector<float> data = gaussian(row.n * row.channels, 7 + static_cast<std::uint32_t>(row.n));
    std::vector<float> y(row.n);
    double paper = 0;
    double square = 0;
    for (int channel = 0; channel < row.channels; ++channel) {
      const std::span<const float> x = std::span(data).subspan(channel * row.n, row.n);
      const double s = 1.0 / range_bn_forward(x, 1.0F, 0.0F, {}, y).inv;
      paper += s / row.channels;
      square += s * s / row.channels;
    }
    const double error = std::sqrt((square - paper * paper) / row.channels);
    const double exact = expected_range(static_cast<double>(row.n)) / std::sqrt(2 * std::log(row.n));
    EXPECT_NEAR(paper, exact, 5 * error) << row.n;
    EXPECT_NEAR(exact, row.published, 0.02) << row.n;
    EXPECT_LT(error, 0.015) << row.n;
  }
}

TEST(RangeBn, EqualsPlainFloatsInTheStatedOrder) {
  std::uint32_t seed = 100;
  for (const RangeConstant constant : {RangeConstant::paper, RangeConstant::reference}) {
    for (const std::int64_t chunks : {1, 2, 3, 16}) {
      for (const std::size_t length : {2, 3, 31, 64}) {
        for (const float sigma : {1.0F, 1e-6F, 3e4F, 1e-39F}) {
          const std::size_t n = length * chunks;
          const std::vector<float> x = gaussian(n, ++seed, sigma * 0.3F, sigma);
          const std::vector<float> g = gaussian(n, ++seed, 0.01F, 0.1F);
          expect_equals_straight(x, g, 0.75F, -0.3F, {constant, chunks});
        }
      }
    }
  }
}

TEST(RangeBn, FirstIndexWinsAmongEqualsAndZerosAreEqual) {
  const std::vector<float> g{1, 2, 3, 4, 5, 6};
  expect_equals_straight({1, 3, 3, -2, -2, 0}, g, 1.5F, 0.5F, {});
  expect_equals_straight({-0.0F, 0.0F, 0.0F, -0.0F, 0.0F, -0.0F}, g, 1.5F, 0.5F, {});

  std::vector<float> y(6);
  const std::vector<float> ties{1, 3, 3, -2, -2, 0};
  const RangeBnSaved saved = range_bn_forward(ties, 1, 0, {}, y);
  EXPECT_EQ(saved.argmax, std::vector<std::int64_t>{1});
  EXPECT_EQ(saved.argmin, std::vector<std::int64_t>{3});
  const std::vector<float> zeros{-0.0F, 0.0F, -0.0F, 0.0F};
  y.resize(4);
  EXPECT_EQ(range_bn_forward(zeros, 1, 0, {}, y).argmax, std::vector<std::int64_t>{0});
}

TEST(RangeBn, ConstantChunkHasNoCorrection) {
  // The first chunk's argmax and argmin coincide: only the second chunk's ends move.
  // Adding and subtracting t would not always cancel: both round.
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    expect_equals_straight({2, 2, 2, 1, 5, -1}, gaussian(6, seed), 1.0F, 0.0F, {.chunks = 2});
  }
  const std::vector<float> flat(8, 4.0F);
  const std::vector<float> g = gaussian(8, 3);
  std::vector<float> y(8);
  const RangeBnSaved saved = range_bn_forward(flat, 2.0F, 0.25F, {}, y);
  for (const float value : y) EXPECT_EQ(value, 0.25F);
  EXPECT_EQ(saved.inv, 1.0F / 1e-5F);
  expect_equals_straight(flat, g, 2.0F, 0.25F, {});
}

TEST(RangeBn, NanInXMakesAllOfYAndDxNan) {
  for (const std::size_t where : {0, 3, 7}) {
    for (const std::int64_t chunks : {1, 4}) {
      std::vector<float> x = gaussian(8, 11);
      x[where] = NAN;
      const std::vector<float> g = gaussian(8, 12);
      std::vector<float> y(8);
      std::vector<float> dx(8);
      const RangeBnConfig config{.chunks = chunks};
      const RangeBnSaved saved = range_bn_forward(x, 1.0F, 0.5F, config, y);
      const NormGradients gradients = range_bn_backward(x, g, 1.0F, saved, config, dx);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(saved.inv), 0x7FC00000U);
      for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), 0x7FC00000U);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(dx[i]), 0x7FC00000U);
      }
      EXPECT_TRUE(std::isnan(gradients.gamma));
      EXPECT_FALSE(std::isnan(gradients.beta));
    }
  }
}

TEST(RangeBn, InfinitiesFollowIeee) {
  const std::vector<float> g{1, 2, 3, 4};
  expect_equals_straight({1, INFINITY, 2, 3}, g, 1.0F, 0.0F, {});
  expect_equals_straight({1, INFINITY, -INFINITY, 3}, g, 1.0F, 0.0F, {.chunks = 2});
  expect_equals_straight({3e38F, -3e38F, 3e38F, 1}, g, 1.0F, 0.0F, {});
}

// A double-precision forward pass, differentiated numerically.
double reference_loss(const std::vector<double>& x, double gamma, double beta, const std::vector<float>& g,
                      std::int64_t chunks, double c) {
  const std::size_t length = x.size() / chunks;
  double mean = 0;
  double range = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (std::int64_t j = 0; j < chunks; ++j) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(j * length);
    const auto [low, high] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(length));
    range += (*high - *low) / static_cast<double>(chunks);
  }
  const double s = range * c + 1e-5;
  double loss = 0;
  for (std::size_t i = 0; i < x.size(); ++i) loss += g[i] * (gamma * (x[i] - mean) / s + beta);
  return loss;
}

TEST(RangeBn, BackwardEqualsFiniteDifferences) {
  for (const std::int64_t chunks : {1, 2, 8}) {
    const std::vector<float> x = gaussian(64, 21 + static_cast<std::uint32_t>(chunks), 0.5F, 1.5F);
    const std::vector<float> g = gaussian(64, 31, 0.2F, 1.0F);
    const float gamma = 1.25F;
    const float beta = -0.5F;
    const RangeBnConfig config{.chunks = chunks};
    const double c = 1 / std::sqrt(2 * std::log(64.0 / static_cast<double>(chunks)));
    std::vector<float> y(64);
    std::vector<float> dx(64);
    const RangeBnSaved saved = range_bn_forward(x, gamma, beta, config, y);
    const NormGradients gradients = range_bn_backward(x, g, gamma, saved, config, dx);

    const std::vector<double> at(x.begin(), x.end());
    const auto loss = [&](const std::vector<double>& p) {
      return reference_loss(p, gamma, beta, g, chunks, c);
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(dx[i], test::central_difference(loss, at, i), 1e-5)
          << "element " << i << " chunks " << chunks;
    }
    const auto by_affine = [&](const std::vector<double>& p) {
      return reference_loss(at, p[0], p[1], g, chunks, c);
    };
    EXPECT_NEAR(gradients.gamma, test::central_difference(by_affine, {gamma, beta}, 0), 1e-4);
    EXPECT_NEAR(gradients.beta, test::central_difference(by_affine, {gamma, beta}, 1), 1e-4);
  }
}

TEST(RangeBn, RefusesWhatCannotBeCut) {
  std::vector<float> x(6);
  std::vector<float> y(6);
  EXPECT_THROW(range_bn_forward(x, 1, 0, {.chunks = 4}, y), std::invalid_argument);  // not divisible
  EXPECT_THROW(range_bn_forward(x, 1, 0, {.chunks = 6}, y), std::invalid_argument);  // chunks of one
  EXPECT_THROW(range_bn_forward(x, 1, 0, {.chunks = 0}, y), std::invalid_argument);
  EXPECT_THROW(range_bn_forward(std::span(x).first(5), 1, 0, {}, y), std::invalid_argument);
  EXPECT_THROW(range_bn_forward(std::span(x).first(1), 1, 0, {}, std::span(y).first(1)),
               std::invalid_argument);

  RangeBnSaved saved = range_bn_forward(x, 1, 0, {.chunks = 3}, y);
  EXPECT_THROW(range_bn_backward(x, x, 1, saved, {.chunks = 2}, y), std::invalid_argument);
  saved.argmin[0] = 6;
  EXPECT_THROW(range_bn_backward(x, x, 1, saved, {.chunks = 3}, y), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

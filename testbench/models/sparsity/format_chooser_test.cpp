// The format chooser against its table, against integration, and against real conversions of lognormal data.
#include "models/sparsity/format_chooser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "testbench/models/sparsity/lognormal_data.hpp"

namespace mantissa {
namespace {

using std::numbers::ln2;

TEST(FormatChooser, ReproducesTheTable) {
  struct Cell {
    int exponent_bits;
    int mantissa_bits;
    double error;
  };
  const std::array<double, 7> sigmas = {1, 2, 3, 4, 5, 6, 8};
  const std::array<std::array<Cell, 7>, 5> table = {{
      {{{2, 1, .114}, {3, 0, .203}, {3, 0, .285}, {3, 0, .380}, {3, 0, .463}, {3, 0, .531}, {3, 0, .629}}},
      {{{2, 2, .071}, {3, 1, .117}, {4, 0, .184}, {4, 0, .207}, {4, 0, .249}, {4, 0, .301}, {4, 0, .404}}},
      {{{3, 2, .045}, {3, 2, .074}, {4, 1, .095}, {4, 1, .121}, {4, 1, .169}, {5, 0, .185}, {5, 0, .211}}},
      {{{3, 3, .023}, {4, 2, .045}, {4, 2, .050}, {4, 2, .078}, {5, 1, .091}, {5, 1, .096}, {5, 1, .125}}},
      {{{3, 4, .011}, {4, 3, .023}, {4, 3, .028}, {5, 2, .045}, {5, 2, .046}, {5, 2, .051}, {5, 2, .081}}},
  }};
  for (int bits = 4; bits <= 8; ++bits) {
    for (std::size_t i = 0; i < sigmas.size(); ++i) {
      const Cell& cell = table[bits - 4][i];
      const FormatChoice choice = choose_format(bits, sigmas[i]);
      EXPECT_EQ(choice.format.exponent_bits, cell.exponent_bits) << bits << " " << sigmas[i];
      EXPECT_EQ(choice.format.mantissa_bits, cell.mantissa_bits) << bits << " " << sigmas[i];
      EXPECT_NEAR(choice.error, cell.error, 0.0005 + 1e-9) << bits << " " << sigmas[i];
    }
  }
}

TEST(FormatChooser, NamedFormatsAreTheNamedOnes) {
  EXPECT_EQ(choose_format(8, 2).format, formats::e4m3);
  EXPECT_EQ(choose_format(8, 6).format, formats::e5m2);
  EXPECT_EQ(choose_format(4, 1).format, formats::e2m1);
  EXPECT_EQ(choose_format(32, 6).format.bits(), 32);
  EXPECT_THROW(choose_format(2, 1), std::invalid_argument);
  EXPECT_THROW(choose_format(33, 1), std::invalid_argument);
  EXPECT_THROW(choose_format(8, -1), std::invalid_argument);
  EXPECT_THROW(choose_format(8, 51), std::invalid_argument);
}

TEST(FormatChooser, ErrorIsTheIntegralOfItsParts) {
  for (const double sigma : {0.7, 2.0, 5.0}) {
    for (const int exponent_bits : {2, 3, 4}) {
      const double reach = std::exp2(exponent_bits - 1);
      const int steps = 400000;
      const double width = 24 * sigma / steps;
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        const double t = -12 * sigma + (i + 0.5) * width;  // log2|g|
        double error = 1;                                  // underflow
        if (t > reach) error = 1 - std::exp2(reach - t);   // saturation
        if (std::fabs(t) <= reach) error = 0.25 / 8 / (2 * ln2);
        sum += error * std::exp(-t * t / (2 * sigma * sigma));
      }
      const double integral = sum * width / (sigma * std::sqrt(2 * std::numbers::pi));
      EXPECT_NEAR(relative_error(3, exponent_bits, sigma), integral, 1e-4) << sigma << " " << exponent_bits;
    }
  }
}

// Mean relative error of real conversions, nearest and saturating, with the median at 1.
double measured_error(const std::vector<float>& gradient, const Format& format) {
  const Conversion how{.to = format, .overflow = Overflow::saturate};
  double sum = 0;
  for (const float g : gradient) {
    const double value = to_double(convert(fp32_bits(g), how).code, format);
    sum += std::fabs(value - g) / std::fabs(g);
  }
  return sum / static_cast<double>(gradient.size());
}

TEST(FormatChooser, RealGridsCrossBetweenE4m3AndE5m2) {
  struct Row {
    double sigma;
    double e4m3;
    double e5m2;
  };
  const std::array<Row, 8> rows = {{{2, .0226, .0449},
                                    {3, .0249, .0449},
                                    {3.5, .0303, .0449},
                                    {4, .0408, .0449},
                                    {4.5, .0569, .0452},
                                    {5, .0777, .0458},
                                    {6, .1293, .0503},
                                    {7, .1865, .0615}}};
  const std::size_t count = 400000;
  for (const Row& row : rows) {
    const std::vector<float> g = test::lognormal_gradient(count, 0, row.sigma * ln2, 51);
    // An element's error is at most 1, so its variance is at most its mean.
    const auto noise = [&](double error) { return 5 * std::sqrt(error / count) + 0.00005; };
    EXPECT_NEAR(measured_error(g, formats::e4m3), row.e4m3, noise(row.e4m3)) << row.sigma;
    EXPECT_NEAR(measured_error(g, formats::e5m2), row.e5m2, noise(row.e5m2)) << row.sigma;
  }
  const std::vector<float> below = test::lognormal_gradient(count, 0, 4.05 * ln2, 52);
  EXPECT_LT(measured_error(below, formats::e4m3), measured_error(below, formats::e5m2));
  const std::vector<float> above = test::lognormal_gradient(count, 0, 4.25 * ln2, 53);
  EXPECT_GT(measured_error(above, formats::e4m3), measured_error(above, formats::e5m2));
}

TEST(FormatChooser, CentringScaleIsTheNearestPowerOfTwo) {
  const auto scale = [](double log2_median) {
    return centring_scale({.elements = 1, .mu = log2_median * ln2});
  };
  EXPECT_EQ(scale(0), 0);
  EXPECT_EQ(scale(-13.4), 13);
  EXPECT_EQ(scale(-13.6), 14);
  EXPECT_EQ(scale(7.2), -7);
  EXPECT_EQ(scale(-149), 127);
  EXPECT_EQ(centring_scale(fit_lognormal(std::vector<float>{0x1p-20F, -0x1p-22F, 0})), 21);
}

// E4M3 below a sigma of about 2.9, E5M2 above; a narrow distribution takes more mantissa.
TEST(FormatChooser, GradientFormatIsOneThatTheHardwareHas) {
  EXPECT_EQ(gradient_format(1.5), formats::e4m3);
  EXPECT_EQ(gradient_format(4.0), formats::e5m2);
  EXPECT_EQ(gradient_format(0.7).mantissa_bits, 4);
  EXPECT_EQ(gradient_format(1e9).bits(), 8);
}

}  // namespace
}  // namespace mantissa

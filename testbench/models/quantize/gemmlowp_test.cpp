// The GEMMLOWP quantizer against an independent reference program and against IEEE hardware floats.
#include "models/quantize/gemmlowp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

using test::arith_cases;
using test::hex32;

TEST(Gemmlowp, EqualsReferenceProgram) {
  ASSERT_EQ(arith_cases("gemmlowp").size(), 80U);
  for (const auto& one : arith_cases("gemmlowp")) {
    const GemmlowpRange range =
        GemmlowpRange::between(fp32_value(hex32(one["min"])), fp32_value(hex32(one["max"])), one["bits"]);
    ASSERT_EQ(fp32_bits(range.scale), hex32(one["scale"])) << one;
    ASSERT_EQ(fp32_bits(range.inv), hex32(one["inv"])) << one;
    const Rounding rounding = Rounding::parse(one["round"].get<std::string>());
    const float x = fp32_value(hex32(one["x"]));
    const GemmlowpCode code = gemmlowp_quantize(x, range, rounding, hex32(one["R"]));
    ASSERT_EQ(code.q, one["q"].get<int>()) << one;
    ASSERT_EQ(code.invalid, std::isnan(x)) << one;
  }
}

TEST(Gemmlowp, NearestEqualsHardwareFloats) {
  std::mt19937_64 engine(11);
  std::normal_distribution<float> normal(0.3F, 2.0F);
  for (const int bits : {8, 16}) {
    std::vector<float> x(20000);
    for (float& value : x) value = normal(engine);
    const GemmlowpRange range = GemmlowpRange::of(x, bits);
    const auto top = static_cast<float>((1 << bits) - 1);
    ASSERT_EQ(range.min, *std::min_element(x.begin(), x.end()));
    ASSERT_EQ(range.max, *std::max_element(x.begin(), x.end()));
    ASSERT_EQ(range.scale, (range.max - range.min) / top);
    ASSERT_EQ(range.inv, 1.0F / range.scale);
    std::vector<std::uint16_t> codes(x.size());
    EXPECT_EQ(gemmlowp_quantize(x, range, Rounding::rne(), {}, codes), 0U);
    std::vector<float> back(x.size());
    gemmlowp_dequantize(codes, range, back);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float steps = (x[i] - range.min) * range.inv;
      ASSERT_EQ(static_cast<float>(codes[i]), std::clamp(std::nearbyint(steps), 0.0F, top)) << x[i];
      ASSERT_EQ(back[i], static_cast<float>(codes[i]) * range.scale + range.min) << x[i];
    }
  }
}

// The C library rounds halves away from zero by itself; toward zero, halves are what is left below a ceiling.
TEST(Gemmlowp, TiesAwayAndTowardZeroEqualHardwareFloats) {
  const GemmlowpRange range = GemmlowpRange::between(-1, 2, 8);
  for (int i = -40; i < 1100; ++i) {
    for (const float nudge : {-0.001F, 0.0F, 0.001F}) {
      const float x = range.min + (static_cast<float>(i) / 4 + nudge) * range.scale;
      const float steps = (x - range.min) * range.inv;
      const auto clamped = [](float q) { return static_cast<int>(std::clamp(q, 0.0F, 255.0F)); };
      ASSERT_EQ(gemmlowp_quantize(x, range, Rounding::rna()).q, clamped(std::round(steps))) << steps;
      ASSERT_EQ(gemmlowp_quantize(x, range, Rounding::rnz()).q, clamped(std::ceil(steps - 0.5F))) << steps;
    }
  }
  // The worked number of ARITHMETIC.md 5.
  EXPECT_EQ(gemmlowp_quantize(0.5F, range, Rounding::rne()).q, 128);
  EXPECT_EQ(gemmlowp_quantize(0.5F, range, Rounding::rna()).q, 128);
  EXPECT_EQ(gemmlowp_quantize(0.5F, range, Rounding::rnz()).q, 127);
}

// Over all 2^r draws the number of steps up is the fraction's top r bits: the rounding has no bias beyond
// them.
TEST(Gemmlowp, StochasticMeanOverAllDrawsIsTheFraction) {
  const GemmlowpRange range = GemmlowpRange::between(0, 255, 8);
  ASSERT_EQ(range.scale, 1.0F);
  for (const float x : {0.0F, 0.5F, 3.25F, 17.99F, 254.001F, 255.0F}) {
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < 256; ++r) sum += gemmlowp_quantize(x, range, Rounding::sr(8), r).q;
    EXPECT_EQ(sum, static_cast<std::uint64_t>(std::floor(x * 256))) << x;
  }
}

TEST(Gemmlowp, StochasticTensorTakesElementDraws) {
  std::mt19937_64 engine(12);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(50);
  for (float& value : x) value = uniform(engine);
  const GemmlowpRange range = GemmlowpRange::of(x, 8);
  const DrawSource source{.run_seed = 2, .stream = 6, .lanes = 4};
  std::vector<std::uint16_t> codes(x.size());
  gemmlowp_quantize(x, range, Rounding::sr(16), source, codes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double steps = (x[i] - range.min) * range.inv;
    const double fraction = std::floor((steps - std::floor(steps)) * 65536);
    const double draw = source.lane(i % 4, i / 4).draw() & 0xFFFFU;
    const double up = fraction + draw >= 65536 ? 1 : 0;
    ASSERT_EQ(codes[i], std::min(255.0, std::floor(steps) + up)) << i;
  }
}

TEST(Gemmlowp, ValuesOutsideAreClampedAndNanIsInvalid) {
  const GemmlowpRange range = GemmlowpRange::between(-1, 1, 8);
  const auto code = [&](float x) { return gemmlowp_quantize(x, range, Rounding::rne()); };
  EXPECT_EQ(code(-1), (GemmlowpCode{0, false}));
  EXPECT_EQ(code(1), (GemmlowpCode{255, false}));
  EXPECT_EQ(code(-7), (GemmlowpCode{0, false}));
  EXPECT_EQ(code(7), (GemmlowpCode{255, false}));
  EXPECT_EQ(code(3e38F), (GemmlowpCode{255, false}));
  EXPECT_EQ(code(-INFINITY), (GemmlowpCode{0, false}));
  EXPECT_EQ(code(INFINITY), (GemmlowpCode{255, false}));
  EXPECT_EQ(code(NAN), (GemmlowpCode{0, true}));
}

TEST(Gemmlowp, RangeOfATensorIsThatOfItsFiniteElements) {
  const std::vector<float> x = {NAN, 3, INFINITY, -2, -INFINITY, 1};
  const GemmlowpRange range = GemmlowpRange::of(x, 8);
  EXPECT_EQ(range.min, -2);
  EXPECT_EQ(range.max, 3);
  std::vector<std::uint16_t> codes(x.size());
  EXPECT_EQ(gemmlowp_quantize(x, range, Rounding::rne(), {}, codes), 1U);
  EXPECT_EQ(codes, (std::vector<std::uint16_t>{0, 255, 255, 0, 0, 153}));
}

TEST(Gemmlowp, ConstantTensorHasTheSmallestScale) {
  const GemmlowpRange range = GemmlowpRange::of(std::vector<float>{0.25F, 0.25F}, 16);
  EXPECT_EQ(range.scale, 1e-8F);
  EXPECT_EQ(range.inv, 1.0F / 1e-8F);
  EXPECT_EQ(gemmlowp_dequantize(gemmlowp_quantize(0.25F, range, Rounding::rne()).q, range), 0.25F);
}

TEST(Gemmlowp, RefusesBadRanges) {
  EXPECT_THROW(GemmlowpRange::between(0, 1, 7), std::invalid_argument);
  EXPECT_THROW(GemmlowpRange::between(1, 0, 8), std::invalid_argument);
  EXPECT_THROW(GemmlowpRange::between(NAN, 0, 8), std::invalid_argument);
  EXPECT_THROW(GemmlowpRange::between(0, INFINITY, 8), std::invalid_argument);
  const GemmlowpRange range = GemmlowpRange::between(0, 1, 8);
  const std::vector<float> x(3);
  std::vector<std::uint16_t> codes(2);
  EXPECT_THROW(gemmlowp_quantize(x, range, Rounding::rne(), {}, codes), std::invalid_argument);
}

TEST(GemmlowpRange, WithZeroHasAnIntegerForIt) {
  std::mt19937_64 engine(5);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 20000; ++i) {
    const int bits = i % 2 == 0 ? 8 : 16;
    const float a = std::ldexp(normal(engine), static_cast<int>(engine() % 40) - 20);
    const float b = std::ldexp(normal(engine), static_cast<int>(engine() % 40) - 20);
    const GemmlowpRange before = GemmlowpRange::between(std::min(a, b), std::max(a, b), bits);
    const GemmlowpRange range = before.with_zero();
    const std::uint16_t zero = gemmlowp_quantize(0.0F, range, Rounding::rne()).q;
    const float back = gemmlowp_dequantize(zero, range);
    ASSERT_EQ(back, 0.0F) << a << " " << b;
    ASSERT_FALSE(std::signbit(back));
    // Both ends of the old range are inside the new one, or half a step outside; inv is rounded.
    for (const float x : {before.min, before.max}) {
      const float near = gemmlowp_dequantize(gemmlowp_quantize(x, range, Rounding::rne()).q, range);
      ASSERT_NEAR(near, x, 0.52F * range.scale) << a << " " << b;
    }
  }
  // What starts at zero stays as it is.
  const GemmlowpRange positive = GemmlowpRange::between(0, 3, 8);
  EXPECT_EQ(positive.with_zero().min, 0.0F);
  EXPECT_EQ(positive.with_zero().scale, positive.scale);
  EXPECT_EQ(GemmlowpRange::between(1, 3, 8).with_zero().min, 0.0F);
}

}  // namespace
}  // namespace mantissa

// The weight update against an independent reference program and a chain of hardware FMAs.
#include "models/update/weight_update.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/stream_id.hpp"
#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

float as_float(const nlohmann::json& hex) { return std::bit_cast<float>(test::hex32(hex)); }

TEST(WeightUpdate, EqualsReferenceProgram) {
  ASSERT_EQ(test::arith_cases("update").size(), 80U);
  for (const auto& one : test::arith_cases("update")) {
    const WeightUpdateConfig config{.learning_rate = as_float(one["lr"]),
                                    .momentum = as_float(one["mu"]),
                                    .weight_decay = as_float(one["wd"]),
                                    .unscale = UnscaleByExponent{one["k"]},
                                    .rounding = Rounding::parse(one["round"].get<std::string>())};
    const UpdatedWeight result =
        update_weight(static_cast<std::uint16_t>(test::hex32(one["w"])), as_float(one["m"]),
                      as_float(one["g"]), config, test::hex32(one["R"]));
    EXPECT_EQ(result.weight, test::hex32(one["w_out"])) << one;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(result.momentum), test::hex32(one["m_out"])) << one;
  }
}

// An FP32 master that starts from the same FP16 number: the reference's weight is what is left to round.
TEST(WeightUpdate, Fp32MasterIsTheFp16OneBeforeItsStore) {
  for (const auto& one : test::arith_cases("update")) {
    const WeightUpdateConfig config{.learning_rate = as_float(one["lr"]),
                                    .momentum = as_float(one["mu"]),
                                    .weight_decay = as_float(one["wd"]),
                                    .unscale = UnscaleByExponent{one["k"]}};
    const float weight = fp32_value(convert(test::hex32(one["w"]), {.from = formats::fp16}).code);
    const UpdatedFp32Weight result =
        update_weight_fp32(weight, as_float(one["m"]), as_float(one["g"]), config);
    const Rounding rounding = Rounding::parse(one["round"].get<std::string>());
    const Rounded stored =
        convert(fp32_bits(result.weight), {.to = formats::fp16, .rounding = rounding}, test::hex32(one["R"]));
    EXPECT_EQ(stored.code, test::hex32(one["w_out"])) << one;
    EXPECT_EQ(fp32_bits(result.momentum), test::hex32(one["m_out"])) << one;
  }
}

// The example of ARITHMETIC.md 11: w' with all its bits.
TEST(WeightUpdate, Fp32MasterKeepsEveryBit) {
  const WeightUpdateConfig config{.learning_rate = fp32_value(0x3DCCCCCD),
                                  .momentum = fp32_value(0x3F666666),
                                  .weight_decay = fp32_value(0x3A03126F),
                                  .unscale = UnscaleByExponent{14}};
  std::vector<float> weights(3, fp32_value(convert(0x3275, {.from = formats::fp16}).code));
  std::vector<float> momentum(3, fp32_value(0x3B866834));
  std::vector<float> gradient(3, fp32_value(0xC28F4BED));
  ASSERT_TRUE(update_weights_fp32(weights, momentum, gradient, config));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(fp32_bits(weights[i]), 0x3E4EAF38U);
    EXPECT_EQ(fp32_bits(momentum[i]), 0xBA1831AAU);
  }
  gradient[2] = inf;
  EXPECT_FALSE(update_weights_fp32(weights, momentum, gradient, config));
  EXPECT_EQ(fp32_bits(weights[0]), 0x3E4EAF38U);
  EXPECT_THROW(update_weights_fp32(weights, std::span(momentum).first(2), gradient, config),
               std::invalid_argument);
}

double fp16_value(std::uint16_t code) {
  const int field = code >> 10 & 31;
  const int mantissa = code & 1023;
  double magnitude = field == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, field - 25);
  if (field == 31) magnitude = mantissa == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

// FP16 by scaling to whole quanta in double, where both steps are exact.
double rounded_to_fp16(float value, Rounding rounding, std::uint32_t draw) {
  if (!std::isfinite(value) || value == 0) return value;
  const double magnitude = std::abs(static_cast<double>(value));
  const double quantum = std::ldexp(1.0, std::max(std::ilogb(magnitude), -14) - 10);
  const double quanta = magnitude / quantum;
  double whole = std::nearbyint(quanta);
  if (rounding == Rounding::rna()) whole = std::round(quanta);
  if (rounding == Rounding::rnz()) whole = std::ceil(quanta - 0.5);
  if (rounding == Rounding::sr(13)) {
    whole = std::floor(quanta);
    const double f = std::floor((quanta - whole) * 8192);
    if (f + (draw & 8191) >= 8192) ++whole;
  }
  const double result = whole * quantum;
  return std::copysign(result > 65504 ? HUGE_VAL : result, value);
}

struct Case {
  std::uint16_t w;
  float m, g;
  std::uint32_t draw;
};

Case random_case(std::mt19937& engine) {
  // Magnitudes over many binades, so that terms cancel, vanish and overflow.
  const auto spread = [&](int low, int high) {
    const float significand = 1.0F + static_cast<float>(engine() & 0x7FFFFF) * 0x1p-23F;
    const int exponent = low + static_cast<int>(engine() % static_cast<std::uint32_t>(high - low));
    return std::ldexp((engine() & 1) != 0 ? significand : -significand, exponent);
  };
  return {static_cast<std::uint16_t>(engine() & 0xFBFF), spread(-30, 20), spread(-140, 40),
          static_cast<std::uint32_t>(engine())};
}

void expect_equals_hardware(const Case& c, const WeightUpdateConfig& config, float factor) {
  const auto w = static_cast<float>(fp16_value(c.w));
  const float m = std::fma(config.momentum, c.m, std::fma(config.weight_decay, w, c.g * factor));
  const float expected = std::fma(-config.learning_rate, m, w);
  const UpdatedWeight result = update_weight(c.w, c.m, c.g, config, c.draw);
  ASSERT_EQ(std::bit_cast<std::uint32_t>(result.momentum), std::bit_cast<std::uint32_t>(m));
  const double stored = rounded_to_fp16(expected, config.rounding, c.draw);
  ASSERT_EQ(std::bit_cast<std::uint64_t>(fp16_value(result.weight)), std::bit_cast<std::uint64_t>(stored))
      << expected << " " << c.w << " " << c.m << " " << c.g;
}

TEST(WeightUpdate, EqualsHardwareFmaChain) {
  std::mt19937 engine(1);
  WeightUpdateConfig config{.learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 5e-4F};
  for (int round = 0; round < 100000; ++round) {
    const Case c = random_case(engine);
    const Rounding roundings[] = {Rounding::rne(), Rounding::rna(), Rounding::rnz(), Rounding::sr(13)};
    config.rounding = roundings[engine() % 4];
    const int k = static_cast<int>(engine() % 39) - 14;
    config.unscale = UnscaleByExponent{k};
    expect_equals_hardware(c, config, std::ldexp(1.0F, -k));
    config.unscale = UnscaleByFactor{1e-4F};
    expect_equals_hardware(c, config, 1e-4F);
  }
}

TEST(WeightUpdate, TiesGoAsTheModeSays) {
  // 1 + 2^-11 lies between FP16's 1 (3C00) and 1 + 2^-10 (3C01); with 2^-10 more the even one is above.
  const auto stored = [](std::uint16_t weight, Rounding rounding) {
    return update_weight(weight, 0.0F, -0x1p-11F, {.learning_rate = 1.0F, .rounding = rounding}).weight;
  };
  EXPECT_EQ(stored(0x3C00, Rounding::rne()), 0x3C00);
  EXPECT_EQ(stored(0x3C00, Rounding::rna()), 0x3C01);
  EXPECT_EQ(stored(0x3C00, Rounding::rnz()), 0x3C00);
  EXPECT_EQ(stored(0x3C01, Rounding::rne()), 0x3C02);
  EXPECT_EQ(stored(0x3C01, Rounding::rna()), 0x3C02);
  EXPECT_EQ(stored(0x3C01, Rounding::rnz()), 0x3C01);
}

TEST(WeightUpdate, UnscaledGradientRoundsOnceInTheSubnormals) {
  // 1.5 * 2^-125 scaled by 2^-24 is 1.5 quanta of 2^-149: a tie, to even.
  const WeightUpdateConfig config{.unscale = UnscaleByExponent{24}};
  EXPECT_EQ(update_weight(0, 0.0F, std::ldexp(1.5F, -125), config).momentum, std::ldexp(1.0F, -148));
}

TEST(WeightUpdate, StochasticRoundingIsUnbiased) {
  // 1 + 0.3 of an FP16 ulp is 2458 FP32 ulps above 1: so many of the 8192 values of R go up.
  const WeightUpdateConfig config{.learning_rate = -1.0F, .rounding = Rounding::sr(13)};
  int up = 0;
  for (std::uint32_t r = 0; r < 8192; ++r) {
    up += update_weight(0x3C00, 0.0F, 0.3F * 0x1p-10F, config, r).weight == 0x3C01 ? 1 : 0;
  }
  EXPECT_EQ(up, 2458);
  EXPECT_EQ(update_weight(0x3C00, 0.0F, 0.3F * 0x1p-10F, {.learning_rate = -1.0F}).weight, 0x3C00);
}

TEST(WeightUpdate, OverflowGivesInfAndRaisesIt) {
  const UpdatedWeight result = update_weight(0x7BFF, 0.0F, -1000.0F, {.learning_rate = 1.0F});
  EXPECT_EQ(result.weight, 0x7C00);
  EXPECT_TRUE(result.flags.overflow);
}

TEST(WeightUpdate, TensorTakesOneDrawPerElement) {
  std::mt19937 engine(4);
  const WeightUpdateConfig config{
      .learning_rate = 0.01F, .momentum = 0.9F, .weight_decay = 1e-3F, .rounding = Rounding::sr(13)};
  const DrawSource draws{.run_seed = 8,
                         .stream = StreamId{.pass = Pass::update, .unit = RandomUnit::weight_update}.value(),
                         .lanes = 7};
  std::vector<std::uint16_t> w(100);
  std::vector<float> m(100);
  std::vector<float> g(100);
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = static_cast<std::uint16_t>(0x3800 + engine() % 0x400);
    m[i] = static_cast<float>(engine() % 1000) * 1e-4F;
    g[i] = static_cast<float>(engine() % 1000) * 1e-4F;
  }
  const std::vector<std::uint16_t> w_before = w;
  const std::vector<float> m_before = m;
  ASSERT_TRUE(update_weights(w, m, g, config, draws));
  for (std::size_t i = 0; i < w.size(); ++i) {
    const UpdatedWeight expected =
        update_weight(w_before[i], m_before[i], g[i], config, draws.lane(i % 7, i / 7).draw());
    EXPECT_EQ(w[i], expected.weight) << i;
    EXPECT_EQ(m[i], expected.momentum) << i;
  }
}

TEST(WeightUpdate, NonFiniteGradientSkipsTheStep) {
  for (const float bad : {nan, inf, -inf}) {
    std::vector<std::uint16_t> w{0x3C00, 0x3C00, 0x3C00};
    std::vector<float> m{1, 2, 3};
    std::vector<float> g{1, 1, bad};
    EXPECT_TRUE(has_nonfinite(g));
    EXPECT_FALSE(update_weights(w, m, g, {.learning_rate = 0.5F}, {}));
    EXPECT_EQ(w, (std::vector<std::uint16_t>{0x3C00, 0x3C00, 0x3C00}));
    EXPECT_EQ(m, (std::vector<float>{1, 2, 3}));
    g[2] = std::numeric_limits<float>::max();
    EXPECT_FALSE(has_nonfinite(g));
    EXPECT_TRUE(update_weights(w, m, g, {.learning_rate = 0.5F}, {}));
    EXPECT_EQ(w[0], 0x3800);
  }
}

TEST(WeightUpdate, RefusesBadParameters) {
  std::vector<std::uint16_t> w(3);
  std::vector<float> m(3);
  std::vector<float> g(2);
  EXPECT_THROW(update_weights(w, m, g, {}, {}), std::invalid_argument);
  EXPECT_THROW(update_weight(0, 0, 0, {.rounding = Rounding::sr(8)}), std::invalid_argument);
  EXPECT_THROW(update_weight(0, 0, 0, {.rounding = Rounding::rtz()}), std::invalid_argument);
  EXPECT_THROW(update_weight(0, 0, 0, {.unscale = UnscaleByExponent{129}}), std::invalid_argument);
  EXPECT_THROW(update_weights(w, m, m, {.rounding = Rounding::sr(13)}, {.leap = 8}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

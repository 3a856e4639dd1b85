// The double sampler against an independent reference program, hardware floats, and its own special cases.
#include "models/sampling/double_sampler.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "models/mac/stream_id.hpp"
#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(DoubleSampler, EqualsReferenceProgram) {
  ASSERT_EQ(test::arith_cases("double_sample").size(), 80U);
  for (const auto& one : test::arith_cases("double_sample")) {
    const DoubleSampler sampler(std::bit_cast<float>(test::hex32(one["M"])), one["s"], one["r"]);
    const DoubleSample sample = sampler.sample(std::bit_cast<float>(test::hex32(one["v"])),
                                               test::hex32(one["R1"]), test::hex32(one["R2"]));
    EXPECT_EQ(sample.negative, one["sign"] == 1) << one;
    EXPECT_EQ(sample.base, one["base"]) << one;
    EXPECT_EQ(sample.up[0], one["up1"] == 1) << one;
    EXPECT_EQ(sample.up[1], one["up2"] == 1) << one;
    EXPECT_EQ(bits(sampler.value(sample, 0)), test::hex32(one["Q1"])) << one;
    EXPECT_EQ(bits(sampler.value(sample, 1)), test::hex32(one["Q2"])) << one;
    EXPECT_FALSE(sample.invalid);
  }
}

TEST(DoubleSampler, GoesUpForExactlyFOfAllDraws) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1.2F, 1.2F);
  for (int round = 0; round < 300; ++round) {
    const int intervals = 1 + static_cast<int>(engine() % 255);
    const float scale = 0.25F + static_cast<float>(engine() % 1000) * 0.001F;
    const float v = uniform(engine);
    const DoubleSampler sampler(scale, intervals, 8);
    const auto s = static_cast<float>(intervals);
    const float position = std::fabs(v) * (s / scale);
    const float base = std::min(std::floor(position), s);
    const float fraction = base == s ? 0.0F : std::floor((position - base) * 256.0F);
    int first = 0;
    int second = 0;
    for (std::uint32_t draw = 0; draw < 256; ++draw) {
      const DoubleSample sample = sampler.sample(v, draw | 0xABCD00U, 255 - draw);
      ASSERT_EQ(sample.base, static_cast<int>(base));
      ASSERT_EQ(sample.negative, v < 0);
      first += sample.up[0] ? 1 : 0;
      second += sample.up[1] ? 1 : 0;
      const float level = base + (sample.up[0] ? 1.0F : 0.0F);
      ASSERT_EQ(bits(sampler.value(sample, 0)), bits(std::copysign((scale / s) * level, v)));
    }
    EXPECT_EQ(first, static_cast<int>(fraction)) << v << " " << scale << " " << intervals;
    EXPECT_EQ(second, static_cast<int>(fraction));
  }
}

TEST(DoubleSampler, SpecialValues) {
  const DoubleSampler sampler(2.0F, 4, 8);
  EXPECT_EQ(sampler.sample(nan, 255, 255), (DoubleSample{.invalid = true}));
  EXPECT_EQ(sampler.sample(-nan, 255, 255), (DoubleSample{.invalid = true}));
  EXPECT_EQ(bits(sampler.value(sampler.sample(-nan, 255, 255), 0)), 0U);
  EXPECT_EQ(sampler.sample(-inf, 255, 255), (DoubleSample{.negative = true, .base = 4}));
  EXPECT_EQ(sampler.sample(2.0F, 255, 255), (DoubleSample{.base = 4}));
  EXPECT_EQ(sampler.sample(5.0F, 255, 255), (DoubleSample{.base = 4}));
  EXPECT_EQ(bits(sampler.value(sampler.sample(-0.0F, 255, 255), 1)), 0x80000000U);
  EXPECT_EQ(bits(sampler.value(sampler.sample(-1e-9F, 255, 255), 1)), 0x80000000U);  // below 2^-8 of a level
  EXPECT_EQ(bits(sampler.value(sampler.sample(0.0F, 255, 255), 1)), 0U);

  const DoubleSampler empty(0.0F, 4, 8);
  for (const float v : {0.0F, -0.0F, 1.0F, -1.0F, inf, -inf}) {
    EXPECT_EQ(empty.sample(v, 255, 255), DoubleSample{}) << v;
    EXPECT_EQ(bits(empty.value(empty.sample(v, 255, 255), 0)), 0U) << v;
  }
  EXPECT_TRUE(empty.sample(nan, 0, 0).invalid);

  // s/M overflows to Inf: anything but zero is at the top, zero has no level.
  const DoubleSampler tiny(1e-44F, 255, 8);
  EXPECT_EQ(tiny.sample(-1e-45F, 255, 255), (DoubleSample{.negative = true, .base = 255}));
  EXPECT_EQ(tiny.sample(-0.0F, 255, 255), (DoubleSample{.invalid = true}));
}

TEST(DoubleSampler, TensorTakesTwoDrawsOfItsLanePerElement) {
  const DrawSource draws{
      .run_seed = 3, .stream = StreamId{.unit = RandomUnit::double_sampler}.value(), .lanes = 5};
  const DoubleSampler sampler(1.0F, 3, 16);
  std::vector<float> values(101);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  const std::vector<DoubleSample> samples = sampler.sample(values, draws);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t first = draws.lane(i % 5, 2 * (i / 5)).draw();
    const std::uint32_t second = draws.lane(i % 5, 2 * (i / 5) + 1).draw();
    EXPECT_EQ(samples[i], sampler.sample(values[i], first, second)) << i;
  }
}

TEST(DoubleSampler, FromItsRegistersIsTheSame) {
  for (const float scale : {0.0F, 1e-39F, 0.75F, 3e38F}) {
    const DoubleSampler sampler(scale, 5, 4);
    const DoubleSampler copy = DoubleSampler::from_registers(sampler.levels_per_unit(), sampler.step(), 5, 4);
    for (const float v : {0.0F, -1e-39F, 0.4F, -2e38F, inf, nan}) {
      const DoubleSample sample = sampler.sample(v, 7, 11);
      EXPECT_EQ(copy.sample(v, 7, 11), sample);
      EXPECT_EQ(bits(copy.value(sample, 1)), bits(sampler.value(sample, 1)));
    }
  }
  EXPECT_EQ(DoubleSampler(0, 5).levels_per_unit(), 0);
  EXPECT_THROW(DoubleSampler::from_registers(1, 1, 256), std::invalid_argument);
  EXPECT_THROW(DoubleSampler::from_registers(1, 1, 5, 33), std::invalid_argument);
}

TEST(DoubleSampler, StoresOneBitMoreThanOneSample) {
  EXPECT_EQ(DoubleSampler(1, 1).stored_bits(), 4);
  EXPECT_EQ(DoubleSampler(1, 3).stored_bits(), 5);
  EXPECT_EQ(DoubleSampler(1, 4).stored_bits(), 6);
  EXPECT_EQ(DoubleSampler(1, 255).stored_bits(), 11);
}

TEST(DoubleSampler, RefusesBadParameters) {
  EXPECT_THROW(DoubleSampler(-1.0F, 3), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(nan, 3), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(inf, 3), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(1.0F, 0), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(1.0F, 256), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(1.0F, 3, 0), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(1.0F, 3, 33), std::invalid_argument);
  const std::vector<float> values(3);
  EXPECT_THROW(DoubleSampler(1.0F, 3, 17).sample(values, DrawSource{}), std::invalid_argument);
  EXPECT_THROW(DoubleSampler(1.0F, 3).sample(values, DrawSource{.lanes = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

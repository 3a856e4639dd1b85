// The vector weight update against the scalar model, on every SIMD target.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/kernels/weight_update.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/norm_tensors.hpp"

namespace mantissa {
namespace {

struct Tensors {
  std::vector<std::uint16_t> weights;  // any FP16 code
  std::vector<float> fp32_weights;
  std::vector<float> momentum;
  std::vector<float> gradient;
};

// Magnitudes over many binades, so that terms cancel, vanish and overflow; Inf and NaN but in gradients.
Tensors tensors_of(std::size_t count, std::uint64_t seed) {
  test::Random random(seed);
  const auto number = [&](int exponent, int spread) {
    return fp32_value(test::code_near(formats::fp32, exponent, spread, random));
  };
  Tensors made;
  for (std::size_t i = 0; i < count; ++i) {
    made.weights.push_back(static_cast<std::uint16_t>(random()));
    made.fp32_weights.push_back(number(-5, 12));
    made.momentum.push_back(random() % 50 == 0 ? fp32_value(static_cast<std::uint32_t>(random()))
                                               : number(-5, 22));
    const float g = number(-50, 90);
    made.gradient.push_back(std::isfinite(g) ? g : 0.0F);
  }
  return made;
}

std::vector<WeightUpdateConfig> configs() {
  std::vector<WeightUpdateConfig> all;
  for (const Rounding rounding : {Rounding::rne(), Rounding::rna(), Rounding::rnz(), Rounding::sr(13)}) {
    WeightUpdateConfig config{
        .learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 5e-4F, .rounding = rounding};
    for (const int exponent : {0, 14, -127, 128}) {
      config.unscale = UnscaleByExponent{exponent};
      all.push_back(config);
    }
    config.unscale = UnscaleByFactor{1.0F / 1000.0F};
    all.push_back(config);
  }
  return all;
}

TEST(WeightUpdateKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 0;
  for (const WeightUpdateConfig& config : configs()) {
    for (const std::size_t count : {0U, 1U, 31U, 5003U, 40'000U}) {
      ++seed;
      const Tensors given = tensors_of(count, seed);
      const DrawSource draws{.run_seed = seed, .lanes = seed % 2 == 0 ? 16 : 5};
      Tensors expected = given;
      ASSERT_TRUE(update_weights(expected.weights, expected.momentum, given.gradient, config, draws));
      Tensors expected_fp32 = given;
      ASSERT_TRUE(
          update_weights_fp32(expected_fp32.fp32_weights, expected_fp32.momentum, given.gradient, config));
      test::on_every_target([&](const std::string& target) {
        for (const int threads : {1, 2}) {
          Tensors made = given;
          ASSERT_TRUE(
              kernels::update_weights(made.weights, made.momentum, given.gradient, config, draws, threads));
          ASSERT_EQ(made.weights, expected.weights) << target << " of " << count;
          ASSERT_EQ(test::all_bits(made.momentum), test::all_bits(expected.momentum)) << target;
          made = given;
          ASSERT_TRUE(kernels::update_weights_fp32(made.fp32_weights, made.momentum, given.gradient, config,
                                                   threads));
          ASSERT_EQ(test::all_bits(made.fp32_weights), test::all_bits(expected_fp32.fp32_weights)) << target;
          ASSERT_EQ(test::all_bits(made.momentum), test::all_bits(expected_fp32.momentum)) << target;
        }
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(WeightUpdateKernel, NonFiniteGradientAnywhereSkipsTheStep) {
  for (const std::size_t at : {0U, 17U, 30'000U, 32'770U}) {
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      Tensors given = tensors_of(32'771, at);
      test::on_every_target(
          [&](const std::string&) { ASSERT_FALSE(kernels::has_nonfinite(given.gradient, 2)); });
      given.gradient[at] = bad;
      const Tensors before = given;
      test::on_every_target([&](const std::string& target) {
        ASSERT_TRUE(kernels::has_nonfinite(given.gradient)) << target << " at " << at;
        ASSERT_FALSE(kernels::update_weights(given.weights, given.momentum, given.gradient, {}, {}, 2));
        ASSERT_FALSE(kernels::update_weights_fp32(given.fp32_weights, given.momentum, given.gradient, {}));
      });
      EXPECT_EQ(given.weights, before.weights);
      EXPECT_EQ(test::all_bits(given.momentum), test::all_bits(before.momentum));
      EXPECT_EQ(test::all_bits(given.fp32_weights), test::all_bits(before.fp32_weights));
    }
  }
}

TEST(WeightUpdateKernel, RefusesWhatTheScalarModelRefuses) {
  std::vector<std::uint16_t> weights(4);
  std::vector<float> four(4);
  std::vector<float> few(3);
  const WeightUpdateConfig truncating{.rounding = Rounding::rtz()};
  const WeightUpdateConfig beyond{.unscale = UnscaleByExponent{129}};
  const WeightUpdateConfig stochastic{.rounding = Rounding::sr(13)};
  EXPECT_THROW(kernels::update_weights(weights, few, four, {}, {}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights(weights, four, few, {}, {}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights(weights, four, four, truncating, {}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights(weights, four, four, beyond, {}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights(weights, four, four, stochastic, {.leap = 12}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights_fp32(few, four, four, {}), std::invalid_argument);
  EXPECT_THROW(kernels::update_weights_fp32(four, four, four, beyond), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// Thresholds from gradients whose shares below any magnitude are known.
#include "sim/layer/pruning_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/sparsity/lognormal.hpp"
#include "sim/layer/pruning_targets.hpp"

namespace mantissa {
namespace {

// 1/1000, 2/1000 .. 1, with signs in turns.
std::vector<float> evenly_spaced() {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i)
    values.push_back((i % 2 == 0 ? -1.0F : 1.0F) * static_cast<float>(i) / 1000);
  return values;
}

struct Setting {
  explicit Setting(PruningRule rule) {
    recipe.errors.type = formats::e5m2;
    recipe.pruning = rule;
  }
  double threshold(std::span<const float> gradient) {
    PruningPlan thresholds(*recipe.pruning);
    thresholds.look(plan, gradient);
    thresholds.refresh();
    return *plan.registers.tau;
  }
  Recipe recipe;
  LayerPlan plan{recipe, "layer", LayerKind::linear, 0, false};
};

// An element x below tau stays with probability x / tau: of magnitudes evenly spread over 0..1 the share of
// zeros is tau / 2 up to tau = 1.
TEST(PruningPlan, AQuantileGivesItsShareOfZeros) {
  Setting setting({.sparsity = 0.4, .threshold = PruningRule::Threshold::quantile});
  EXPECT_NEAR(setting.threshold(evenly_spaced()), 0.8, 0.002);
  EXPECT_EQ(setting.plan.registers.target, 0.4);
}

TEST(PruningPlan, TheFitGivesAnotherThresholdThanTheMagnitudes) {
  Setting fitted({.sparsity = 0.4});
  Setting counted({.sparsity = 0.4, .threshold = PruningRule::Threshold::quantile});
  EXPECT_NE(fitted.threshold(evenly_spaced()), counted.threshold(evenly_spaced()));
}

TEST(PruningPlan, NoThresholdLiesBeyondTheLargestMagnitude) {
  Setting setting({.sparsity = 0.95, .max_sparsity = 0.95});
  // The fit of four numbers asks for far more than the largest of them.
  const std::vector<float> few = {1e-6F, 1e-3F, -1e-2F, 0.5F};
  const LognormalFit fit = fit_lognormal(few);
  ASSERT_GT(tau_for_sparsity(0.95, fit), 0.5);
  EXPECT_EQ(setting.threshold(few), 0.5);
}

TEST(PruningPlan, CountersCorrectTheNextThreshold) {
  Setting setting({.sparsity = 0.4, .threshold = PruningRule::Threshold::quantile, .feedback = true});
  PruningPlan thresholds(*setting.recipe.pruning);
  PruneCounts recent;
  const std::vector<float> gradient = evenly_spaced();
  thresholds.look(setting.plan, gradient, &recent);
  thresholds.refresh();
  recent = {.kept = 70, .zeros_made = 30};  // 30 % zeros in place of 40
  thresholds.look(setting.plan, gradient, &recent);
  thresholds.refresh();
  EXPECT_DOUBLE_EQ(setting.plan.registers.correction, 0.05);
  EXPECT_EQ(recent, PruneCounts{});
  thresholds.look(setting.plan, gradient, &recent);
  thresholds.refresh();
  EXPECT_NEAR(*setting.plan.registers.tau, 0.9, 0.002);  // for 45 %
}

TEST(PruningPlan, WhatIsForgottenSetsNothing) {
  Setting setting({});
  PruningPlan thresholds(*setting.recipe.pruning);
  thresholds.look(setting.plan, evenly_spaced());
  thresholds.forget();
  thresholds.refresh();
  EXPECT_FALSE(setting.plan.registers.tau);
}

TEST(PruningTargets, TheLargestLayersMakeUpForTheOthers) {
  // Narrow distributions lose their direction when 85 % of them go.
  const std::vector<LognormalFit> fits = {
      {.elements = 6000, .mu = -3, .sigma = 2.5, .smallest = 1e-9F, .tail = 2.3},
      {.elements = 3000, .mu = -2, .sigma = 2.0, .smallest = 1e-9F, .tail = 2.5},
      {.elements = 1000, .mu = -5, .sigma = 1.6, .smallest = 1e-9F, .tail = 2.6}};
  PruningRule rule;
  const std::vector<LayerThreshold> plain = pruning_targets(fits, rule);
  for (const LayerThreshold& layer : plain) EXPECT_NEAR(layer.sparsity, 0.85, 1e-9);
  rule.min_cosine = 0.93;
  const std::vector<LayerThreshold> kept = pruning_targets(fits, rule);
  double zeros = 0;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    zeros += kept[i].sparsity * static_cast<double>(fits[i].elements);
    if (i == 0) continue;
    EXPECT_LT(kept[i].sparsity, 0.84) << i;
    EXPECT_NEAR(pruned_cosine(std::log(kept[i].tau) - fits[i].mu, fits[i].sigma, fits[i].tail), 0.93, 1e-6)
        << i;
  }
  EXPECT_GT(kept[0].sparsity, 0.85);
  EXPECT_NEAR(zeros, 0.85 * 10000, 1e-3);
  // Up to a point.
  rule.max_sparsity = 0.86;
  EXPECT_NEAR(pruning_targets(fits, rule)[0].sparsity, 0.86, 1e-9);
}

}  // namespace
}  // namespace mantissa

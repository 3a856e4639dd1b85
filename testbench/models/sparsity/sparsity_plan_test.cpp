// The heterogeneous sparsity rule: worked cases, and the total that it promises.
#include "models/sparsity/sparsity_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mantissa {
namespace {

LognormalFit fit_of(double sigma, std::uint64_t zeros = 0) {
  return {.elements = 1000, .zeros = zeros, .nonfinite = 0, .mu = -5, .sigma = sigma, .smallest = 1e-30F};
}

TEST(SparsityPlan, RemainingSparsityIsWhatIsMissing) {
  // 80 of 100 elements shall be zero; 20 are, so all 60 of the rest would have to be: capped.
  EXPECT_DOUBLE_EQ(remaining_sparsity(.8, 100, 20, 60, .9), .9);
  EXPECT_DOUBLE_EQ(remaining_sparsity(.8, 100, 26, 60, .95), .9);
  EXPECT_DOUBLE_EQ(remaining_sparsity(.8, 100, 35, 60, .9), .75);
  EXPECT_DOUBLE_EQ(remaining_sparsity(.1, 100, 35, 60, .9), 0);
  EXPECT_DOUBLE_EQ(remaining_sparsity(.8, 100, 35, 0, .9), 0);
}

TEST(SparsityPlan, LayersThatKeepTheirCosineAreMadeUpFor) {
  // Sigma 1 at 0.85 has cosine 0.628, so 0.9 binds; sigma 2 has 0.993, so it does not.
  const std::vector<LayerGradient> layers = {
      {fit_of(1), 100, .9}, {fit_of(2), 200, .9}, {fit_of(3), 300}, {fit_of(3, 100), 400}};
  const std::vector<LayerThreshold> plan = plan_sparsity(layers, .85, .95);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_NEAR(pruned_cosine(std::log(plan[0].tau) + 5, 1), .9, 1e-9);
  EXPECT_LT(plan[0].sparsity, .85);
  EXPECT_NEAR(plan[1].sparsity, .85, 1e-9);
  EXPECT_GT(plan[2].sparsity, .85);
  EXPECT_NEAR(plan[2].sparsity, plan[3].sparsity, 1e-9);
  EXPECT_LT(plan[3].tau, plan[2].tau);  // a tenth of its elements is zero already
  double zeros = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    zeros += plan[i].sparsity * layers[i].elements;
    EXPECT_NEAR(sparsity_at(plan[i].tau, layers[i].fit), plan[i].sparsity, 1e-12);
  }
  EXPECT_NEAR(zeros, .85 * 1000, 1e-6);
}

TEST(SparsityPlan, CapLimitsTheRest) {
  const std::vector<LayerGradient> layers = {{fit_of(.5), 900, .99}, {fit_of(2), 100}};
  const std::vector<LayerThreshold> plan = plan_sparsity(layers, .85, .9);
  EXPECT_NEAR(plan[1].sparsity, .9, 1e-9);
}

TEST(SparsityPlan, EnoughZerosAlreadyLoseNoDirection) {
  const std::vector<LayerGradient> layers = {{fit_of(1, 900), 100, .99}};
  const std::vector<LayerThreshold> plan = plan_sparsity(layers, .85, .9);
  EXPECT_EQ(plan[0].tau, 1e-30F);
  EXPECT_DOUBLE_EQ(plan[0].sparsity, .9);
}

}  // namespace
}  // namespace mantissa

// What a recipe means for a layer, read off shipped recipes by hand.
#include "sim/layer/layer_plan.hpp"

#include <gtest/gtest.h>

#include "sim/recipe/recipe_yaml.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa {
namespace {

const LayerName network[] = {{"conv1", LayerKind::conv2d},
                             {"bn1", LayerKind::batchnorm},
                             {"conv2", LayerKind::conv2d},
                             {"fc", LayerKind::linear}};

TEST(LayerPlan, FirstAndLastProductAreExempt) {
  const Recipe recipe = load_recipe("fp8").value;
  const std::vector<LayerPlan> plans = plan_layers(recipe, network);
  ASSERT_EQ(plans.size(), 4U);
  for (const std::size_t exempt : {0U, 3U}) {
    const LayerPlan& plan = plans[exempt];
    EXPECT_TRUE(plan.input().format.type.is_fp32());
    EXPECT_TRUE(plan.weight().format.type.is_fp32());
    EXPECT_TRUE(plan.error().format.type.is_fp32());
    EXPECT_FALSE(plan.drain(Role::output));
    EXPECT_TRUE(plan.accumulator().is_fp32_rne());
    EXPECT_FALSE(plan.prunes());
  }
  EXPECT_EQ(plans[2].input().format.type, formats::e5m2);
  EXPECT_EQ(plans[2].drain(Role::grad_weight)->rounding, Rounding::sr(16));
  EXPECT_EQ(plans[1].input().format.type, formats::e5m2);  // a norm is never exempt
  for (std::size_t i = 0; i < plans.size(); ++i) EXPECT_EQ(plans[i].index(), i);
}

TEST(LayerPlan, IntegersStayFp32BehindTheArray) {
  const Recipe recipe = load_recipe("int8-rangebn").value;
  const LayerPlan plan = plan_layers(recipe, network)[2];
  EXPECT_EQ(plan.error().format.type, ElementType::integer(8));
  ASSERT_TRUE(plan.error_for_weights());
  EXPECT_EQ(plan.error_for_weights()->format.type, ElementType::integer(16));
  EXPECT_EQ(plan.error_for_weights()->pass, Pass::weight_gradient);
  for (const Role role : {Role::output, Role::grad_input, Role::grad_weight}) EXPECT_FALSE(plan.drain(role));
  EXPECT_TRUE(plan.norm_quantizes());
  EXPECT_EQ(plan.norm(40).range.channel.chunks,
            10);  // of at most 16, the most that divide 40 into parts of two
}

TEST(LayerPlan, AChosenFormatIsThatOfItsErrorsAlone) {
  const Recipe recipe = load_recipe("lognormal-sparse").value;
  LayerPlan plan = plan_layers(recipe, network)[2];
  EXPECT_TRUE(plan.prunes());
  EXPECT_FALSE(plan.pruner());  // before the first threshold
  plan.registers.error_format = formats::e4m3;
  plan.registers.tau = 0.5;
  EXPECT_EQ(plan.error().format.type, formats::e4m3);
  EXPECT_EQ(plan.drain(Role::grad_input)->type, formats::e5m2);  // the layer before has its own
  EXPECT_EQ(plan.pruner()->tau, fp32_bits(0.5F));
  EXPECT_EQ(plan.pruner()->random_bits, 16);
}

TEST(LayerPlan, RestoresOnlyWhatItsUnitsCanHold) {
  const auto refused = [](const Recipe& recipe, std::size_t layer, const LayerRegisters& saved) {
    std::vector<LayerPlan> plans = plan_layers(recipe, network);
    return test::refusal([&] { plans[layer].restore(saved); });
  };
  LayerRegisters threshold;
  threshold.tau = 0.5;
  LayerRegisters format;
  format.error_format = formats::e4m3;
  const Recipe sparse = load_recipe("lognormal-sparse").value;
  EXPECT_EQ(refused(sparse, 2, threshold), "(accepted)");
  EXPECT_EQ(refused(sparse, 2, format), "(accepted)");
  for (const std::size_t other : {0U, 1U, 3U}) {  // exempt layers and a norm
    EXPECT_EQ(refused(sparse, other, threshold), "tau: the recipe does not prune this layer");
    EXPECT_EQ(refused(sparse, other, format), "error_format: the recipe chooses none for this layer");
  }
  EXPECT_EQ(refused(load_recipe("fp8").value, 2, threshold), "tau: the recipe does not prune this layer");
  format.error_format = formats::fp16;
  EXPECT_EQ(refused(sparse, 2, format), "error_format: fp16 has 16 bits; the multipliers take at most 8");
  // Whatever is written into the registers, a layer that is not pruned has no pruner.
  LayerPlan exempt = plan_layers(sparse, network)[0];
  exempt.registers.tau = 0.5;
  EXPECT_FALSE(exempt.pruner());
}

TEST(LayerPlan, TwoCopiesOfTheErrorsHaveTheirOwnFixedScales) {
  const Recipe recipe;
  LayerPlan plan(recipe, "layer", LayerKind::linear, 0, false);
  plan.recorded = true;
  const TensorFormat first{.type = formats::e4m3, .scale_exponent = 2};
  const TensorFormat copy{.type = formats::e4m3, .scale_exponent = 10};
  EXPECT_EQ(plan.scale({}, Role::grad_output, first, {}), 2);
  EXPECT_EQ(plan.scale({}, Role::grad_output, copy, {}), 10);
  EXPECT_EQ(plan.scale({}, Role::grad_output, first, {}), 2);
}

TEST(LayerPlan, ADrainBeyondItsRegisterIsRefused) {
  const Recipe recipe;
  const LayerPlan plan(recipe, "layer", LayerKind::linear, 0, false);
  const TensorFormat how{.type = formats::e5m2};
  EXPECT_EQ(plan.drain_conversion({}, how, 127).scale, 127);
  EXPECT_EQ(test::refusal([&] { plan.drain_conversion({}, how, 128); }),
            "the drain quantizer would need a scale of 2^128; its register holds -128..127");
}

TEST(LayerPlan, ScalesFollowTheirRule) {
  const Recipe recipe;
  LayerPlan plan(recipe, "layer", LayerKind::linear, 0, false);
  const std::vector<float> values = {0.75F, -3, 0};  // 3 = 1.5 * 2^1
  const TensorFormat fixed{.type = formats::e4m3, .scale_exponent = 4};
  const TensorFormat max{.type = formats::e4m3, .scale = TensorFormat::Scale::max};
  const TensorFormat centre{.type = formats::e5m2, .scale = TensorFormat::Scale::centre};
  const Step step{.refresh = true, .loss_exponent = 3};
  // The loss scale moves gradients, and only where the rule does not look at the values.
  EXPECT_EQ(plan.scale(step, Role::input, fixed, values), 4);
  EXPECT_EQ(plan.scale(step, Role::grad_output, fixed, values), 7);
  EXPECT_EQ(plan.scale(step, Role::grad_output, fixed, values, 5), 7);
  EXPECT_EQ(plan.scale(step, Role::grad_output, max, values), 8 - 1);
  // 2^5 times too large: the sums of scaled operands.
  EXPECT_EQ(plan.scale(step, Role::grad_output, max, values, 5), 8 - 1 + 5);
  // 0.75 and 3: log2 is -0.415 and 1.585, 0.585 in the mean.
  EXPECT_EQ(plan.scale(step, Role::grad_input, centre, values), -1);
  // A centred register stays between refreshes, and a recorded one always.
  const std::vector<float> larger = {12, -48, 0};
  EXPECT_EQ(plan.scale(Step{}, Role::grad_input, centre, larger), -1);
  EXPECT_EQ(plan.scale(step, Role::grad_input, centre, larger), -5);
  plan.recorded = true;
  EXPECT_EQ(plan.scale(step, Role::grad_output, max, larger), 8 - 1 + 5);
}

TEST(LayerPlan, NothingIsDrawnInValidation) {
  Recipe recipe;
  const TensorFormat how{.type = formats::e5m2, .rounding = Rounding::sr(8)};
  LayerPlan plan(recipe, "layer", LayerKind::linear, 0, false);
  const Step training;
  const Step validation{.training = false};
  EXPECT_EQ(plan.drain_conversion(training, how, 2).rounding, Rounding::sr(8));
  EXPECT_EQ(plan.drain_conversion(validation, how, 2).rounding, Rounding::rne());
  EXPECT_EQ(plan.drain_conversion(validation, how, 2).scale, 2);
}

// ARITHMETIC.md 3: step, layer, pass, and unit + 16 * operand.
TEST(LayerPlan, DrawsAreNamedByWhoDraws) {
  const Recipe recipe;
  const LayerPlan plan(recipe, "layer", LayerKind::linear, 7, false);
  const DrawSource draws = plan.draws({.seed = 9, .number = 5, .cols = 4}, Pass::weight_gradient,
                                      RandomUnit::tensor_quantizer, Operand::b);
  EXPECT_EQ(draws.run_seed, 9U);
  EXPECT_EQ(draws.lanes, 4);
  EXPECT_EQ(draws.stream, 0x0000'0005'0007'0211U);
}

}  // namespace
}  // namespace mantissa

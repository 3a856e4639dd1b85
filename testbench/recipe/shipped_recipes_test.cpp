// The shipped recipes say what their papers say.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/recipe/recipe_yaml.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

TEST(ShippedRecipes, AllEightLoadUnderTheirOwnName) {
  const std::vector<std::string> names = shipped_configs(ConfigKind::recipe);
  EXPECT_EQ(names, (std::vector<std::string>{"dense", "dgc", "fp32", "fp8", "fp8-hybrid", "int8-rangebn",
                                             "lognormal-sparse", "zipml"}));
  std::set<std::string> hashes;
  for (const std::string& name : names) {
    const Loaded<Recipe> loaded = load_recipe(name);
    EXPECT_EQ(loaded.value.name, name);
    EXPECT_EQ(loaded.origin, name);
    EXPECT_FALSE(loaded.value.source.empty()) << name;
    EXPECT_EQ(loaded.hash.size(), 64U);
    hashes.insert(loaded.hash);
    // By its path it is the same recipe.
    EXPECT_EQ(load_recipe(shipped_config_path(ConfigKind::recipe, name).string()).hash, loaded.hash);
  }
  EXPECT_EQ(hashes.size(), names.size());
}

TEST(ShippedRecipes, Fp8IsMellempudis) {
  const Recipe recipe = load_recipe("fp8").value;
  EXPECT_EQ(recipe.arithmetic, Arithmetic::floating);
  for (const TensorClass each :
       {TensorClass::weights, TensorClass::activations, TensorClass::errors, TensorClass::weight_gradients}) {
    const bool backward = each == TensorClass::errors || each == TensorClass::weight_gradients;
    EXPECT_EQ(recipe.of(each).type, formats::e5m2);
    EXPECT_EQ(recipe.of(each).rounding, backward ? Rounding::sr(16) : Rounding::rne()) << name_of(each);
    EXPECT_EQ(recipe.of(each).overflow, Overflow::ieee);
    EXPECT_EQ(recipe.of(each).scale, TensorFormat::Scale::fixed);
    EXPECT_EQ(recipe.of(each).scale_exponent, 0);
  }
  EXPECT_EQ(recipe.accumulator.name(), "fp32 rne plain");
  EXPECT_EQ(recipe.master_weights.format, formats::fp16);
  EXPECT_EQ(recipe.master_weights.rounding, Rounding::sr(13));
  EXPECT_EQ(recipe.loss_scale.exponent, 13);
  EXPECT_EQ(recipe.norm.kind, NormRule::Kind::standard);
  EXPECT_TRUE(recipe.exempt_first && recipe.exempt_last);
}

TEST(ShippedRecipes, TheOthersDifferWhereTheirPapersDo) {
  const Recipe hybrid = load_recipe("fp8-hybrid").value;
  EXPECT_EQ(hybrid.weights.type, formats::e4m3);
  EXPECT_EQ(hybrid.activations.scale, TensorFormat::Scale::max);
  EXPECT_EQ(hybrid.activations.overflow, Overflow::saturate);
  EXPECT_EQ(hybrid.errors.type, formats::e5m2);

  const Recipe banner = load_recipe("int8-rangebn").value;
  EXPECT_EQ(banner.arithmetic, Arithmetic::gemmlowp);
  EXPECT_EQ(banner.weights.type, ElementType::integer(8));
  EXPECT_EQ(banner.weights.rounding, Rounding::rne());
  EXPECT_TRUE(banner.errors.rounding.stochastic());
  ASSERT_TRUE(banner.errors_for_weights);
  EXPECT_EQ(banner.errors_for_weights->type, ElementType::integer(16));
  EXPECT_EQ(banner.norm.kind, NormRule::Kind::range);
  EXPECT_EQ(banner.norm.range.precision, NormPrecision::int8);
  EXPECT_EQ(banner.norm.range.channel.chunks, 16);
  EXPECT_TRUE(banner.errors.exact_zero);
  EXPECT_FALSE(banner.weights.exact_zero);

  const Recipe chmiel = load_recipe("lognormal-sparse").value;
  ASSERT_TRUE(chmiel.pruning);
  EXPECT_EQ(chmiel.pruning->sparsity, 0.85);
  EXPECT_TRUE(chmiel.pruning->choose_format);
  EXPECT_TRUE(chmiel.pruning->feedback);
  EXPECT_TRUE(chmiel.exempt_last);
  EXPECT_EQ(chmiel.errors.scale, TensorFormat::Scale::centre);

  const Recipe lin = load_recipe("dgc").value;
  ASSERT_TRUE(lin.compression);
  EXPECT_EQ(lin.compression->sparsity, 0.999);
  EXPECT_EQ(lin.compression->warm_up.size(), 4U);
  const Recipe dense = load_recipe("dense").value;
  EXPECT_FALSE(dense.compression);
  EXPECT_EQ(dense.clip_norm, lin.clip_norm);

  const Recipe zhang = load_recipe("zipml").value;
  ASSERT_TRUE(zhang.sampling);
  EXPECT_EQ(zhang.sampling->levels, 127);

  const Recipe baseline = load_recipe("fp32").value;
  EXPECT_EQ(baseline.arithmetic, Arithmetic::fp32);
  EXPECT_FALSE(baseline.pruning || baseline.compression || baseline.sampling);
}

TEST(ShippedRecipes, AnUnknownNameListsThem) {
  const std::string said = refusal([] { load_recipe("fp9"); });
  EXPECT_EQ(
      said,
      "unknown recipe 'fp9'; shipped are dense, dgc, fp32, fp8, fp8-hybrid, int8-rangebn, lognormal-sparse, "
      "zipml; a file of your own is given as ./NAME.yaml");
  EXPECT_EQ(refusal([] { load_recipe("./nowhere.yaml"); }), "cannot read ./nowhere.yaml: no such file");
  EXPECT_EQ(refusal([] { load_recipe("nowhere.yaml"); }), "cannot read nowhere.yaml: no such file");
  EXPECT_EQ(refusal([] { load_recipe("/"); }), "cannot read /: it is a directory");
  EXPECT_NE(refusal([] { load_recipe(""); }).find("unknown recipe ''"), std::string::npos);
}

}  // namespace
}  // namespace mantissa::test

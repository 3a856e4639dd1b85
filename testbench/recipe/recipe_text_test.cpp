// A recipe written out reads back as itself, and its digest tells it from every other one.
#include "sim/recipe/recipe_text.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "models/mac/accumulator_preset.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/support/config_file.hpp"

namespace mantissa {
namespace {

TEST(RecipeText, EveryShippedRecipeReadsBack) {
  for (const std::string& name : shipped_configs(ConfigKind::recipe)) {
    const Recipe recipe = load_recipe(name).value;
    const std::string content = recipe_content(recipe);
    const Recipe back = parse_recipe("name: other\n" + content, "written");
    EXPECT_EQ(recipe_content(back), content) << name;
    EXPECT_EQ(recipe_digest(back), recipe_digest(recipe)) << name;
  }
}

TEST(RecipeText, AccumulatorsOfDevicesReadBack) {
  std::set<std::string> digests;
  for (const AccumulatorPreset& preset : accumulator_presets()) {
    Recipe recipe = load_recipe("fp8").value;
    recipe.accumulator = preset.accumulator;
    digests.insert(recipe_digest(recipe));
    const Recipe back = parse_recipe("name: other\n" + recipe_content(recipe), "written");
    EXPECT_EQ(back.accumulator.name(), preset.accumulator.name());
  }
  EXPECT_EQ(digests.size(), accumulator_presets().size());
}

TEST(RecipeText, PartsOfANormReadBack) {
  for (const char* name : {"fp8", "int8-rangebn"}) {
    Recipe recipe = load_recipe(name).value;
    EXPECT_EQ(recipe_content(recipe).find("parts"), std::string::npos) << name;
    recipe.norm.parts = 6;
    EXPECT_EQ(parse_recipe("name: other\n" + recipe_content(recipe), "written").norm.parts, 6) << name;
  }
}

TEST(RecipeText, EveryKeyIsPartOfTheDigest) {
  Recipe recipe = load_recipe("lognormal-sparse").value;
  recipe.pruning->min_cosine = 0.5;
  recipe.loss_scale.dynamic.floors = {{10, 2}};
  std::set<std::string> digests = {recipe_digest(recipe)};
  const std::function<void(Recipe&)> changes[] = {
      [](Recipe& r) { r.weights.type = formats::e5m2; },
      [](Recipe& r) { r.activations.rounding = Rounding::rtz(); },
      [](Recipe& r) { r.errors.rounding = Rounding::sr(8); },
      [](Recipe& r) { r.errors.overflow = Overflow::ieee; },
      [](Recipe& r) { r.errors.via_fp16 = true; },
      [](Recipe& r) { r.errors.scale = TensorFormat::Scale::max; },
      [](Recipe& r) { r.weight_gradients.scale_exponent = 1; },
      [](Recipe& r) { r.errors_for_weights = r.errors; },
      [](Recipe& r) { r.accumulator.format = formats::fp16; },
      [](Recipe& r) { r.accumulator.rounding = Rounding::sr(4); },
      [](Recipe& r) { r.accumulator.kind = Accumulator::Kind::kulisch; },
      [](Recipe& r) { r.master_weights.format = formats::fp32; },
      [](Recipe& r) { r.master_weights.rounding = Rounding::rne(); },
      [](Recipe& r) { r.loss_scale.kind = LossScaleRule::Kind::constant; },
      [](Recipe& r) { r.loss_scale.exponent = 12; },
      [](Recipe& r) { r.loss_scale.dynamic.growth_interval = 1; },
      [](Recipe& r) { r.loss_scale.dynamic.floors[0].exponent = 3; },
      [](Recipe& r) { r.norm.kind = NormRule::Kind::range; },
      [](Recipe& r) { r.norm.parts = 2; },
      [](Recipe& r) { r.exempt_first = false; },
      [](Recipe& r) { r.exempt_last = false; },
      [](Recipe& r) { r.pruning->sparsity = 0.8500000000000001; },
      [](Recipe& r) { r.pruning->max_sparsity = 0.96; },
      [](Recipe& r) { r.pruning->random_bits = 8; },
      [](Recipe& r) { r.pruning->min_cosine.reset(); },
      [](Recipe& r) { r.pruning->refresh_steps = 7; },
      [](Recipe& r) { r.pruning->choose_format = false; },
      [](Recipe& r) { r.pruning->feedback = false; },
      [](Recipe& r) { r.pruning->threshold = PruningRule::Threshold::quantile; },
      [](Recipe& r) { r.pruning.reset(); },
      [](Recipe& r) { r.clip_norm = 2; },
      [](Recipe& r) { r.compression.emplace(); },
      [](Recipe& r) { r.compression.emplace().sample = 1; },
      [](Recipe& r) { r.compression.emplace().factor_masking = false; },
      [](Recipe& r) { r.sampling.emplace(); },
  };
  for (const auto& change : changes) {
    Recipe other = recipe;
    change(other);
    EXPECT_TRUE(digests.insert(recipe_digest(other)).second)
        << "change " << digests.size() << " left the digest as it was";
  }
  Recipe renamed = recipe;
  renamed.name = "mine";
  renamed.source = "nowhere";
  EXPECT_EQ(recipe_digest(renamed), recipe_digest(recipe));
}

}  // namespace
}  // namespace mantissa

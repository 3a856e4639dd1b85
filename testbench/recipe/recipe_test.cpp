// Recipes from YAML: each key arrives where it belongs, and each mistake is named with file and line.
#include <gtest/gtest.h>

#include <string>

#include "models/mac/accumulator_preset.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

const std::string start = "name: mine\narithmetic: floating\n";
const std::string e5m2_tensors =
    "weights: {format: e5m2}\n"
    "activations: {format: e5m2}\n"
    "errors: {format: e5m2}\n";

Recipe parse(const std::string& text) { return parse_recipe(text, "mine.yaml"); }
std::string refused(const std::string& text) {
  return refusal([&] { parse(text); });
}

TEST(RecipeYaml, EveryKeyArrives) {
  const Recipe recipe = parse(R"(name: mine
source: a paper
arithmetic: floating
weights: {format: e4m3, rounding: rne, overflow: saturate, scale: max}
activations: {format: "e4m3:bias=11", rounding: "sr:7", overflow: ieee, via: fp16, scale: fixed, scale_exponent: -3}
errors: {format: e5m2, rounding: "sr:16", scale: centre}
weight_gradients: {format: bf16, rounding: "sr:12"}
accumulator: {kind: "chunk:64", format: fp32, rounding: rne, inner_format: fp16, inner_rounding: "sr:5"}
master_weights: {format: fp16, rounding: "sr:13"}
loss_scale: {kind: dynamic, exponent: 13, growth_interval: 500, floors: [{step: 100, exponent: 4}, {step: 200, exponent: 6}]}
norm: {kind: range, precision: int8, constant: reference, chunks: 16, parts: 8, gradient_rounding: "sr:8"}
exempt_first: true
exempt_last: true
pruning: {sparsity: 0.5, max_sparsity: 0.75, random_bits: 9, min_cosine: 0.98, refresh_steps: 7, choose_format: true}
clip_norm: 2.5
compression: {sparsity: 0.99, momentum: 0.5, warm_up: [0.25, 0.5], sample: 0.125, factor_masking: false}
)");
  EXPECT_EQ(recipe.name, "mine");
  EXPECT_EQ(recipe.source, "a paper");
  EXPECT_EQ(recipe.arithmetic, Arithmetic::floating);
  EXPECT_EQ(recipe.weights.type, formats::e4m3);
  EXPECT_EQ(recipe.weights.overflow, Overflow::saturate);
  EXPECT_EQ(recipe.weights.scale, TensorFormat::Scale::max);
  EXPECT_FALSE(recipe.weights.via_fp16);
  EXPECT_EQ(recipe.activations.type, (Format{4, 3, 11, Specials::fn}));
  EXPECT_EQ(recipe.activations.rounding, Rounding::sr(7));
  EXPECT_TRUE(recipe.activations.via_fp16);
  EXPECT_EQ(recipe.activations.scale_exponent, -3);
  EXPECT_EQ(recipe.errors.scale, TensorFormat::Scale::centre);
  EXPECT_EQ(recipe.errors.rounding, Rounding::sr(16));
  EXPECT_EQ(recipe.weight_gradients.type, formats::bf16);
  EXPECT_EQ(recipe.accumulator.kind, Accumulator::Kind::chunk);
  EXPECT_EQ(recipe.accumulator.group, 64);
  EXPECT_EQ(recipe.accumulator.inner_format, formats::fp16);
  EXPECT_EQ(recipe.accumulator.inner_rounding, Rounding::sr(5));
  EXPECT_EQ(recipe.accumulator.format, formats::fp32);
  EXPECT_EQ(recipe.accumulator.rounding, Rounding::rne());
  EXPECT_EQ(recipe.master_weights.format, formats::fp16);
  EXPECT_EQ(recipe.master_weights.rounding, Rounding::sr(13));
  EXPECT_EQ(recipe.loss_scale.kind, LossScaleRule::Kind::dynamic);
  EXPECT_EQ(recipe.loss_scale.exponent, 13);
  EXPECT_EQ(recipe.loss_scale.dynamic.initial_exponent, 13);
  EXPECT_EQ(recipe.loss_scale.dynamic.growth_interval, 500);
  ASSERT_EQ(recipe.loss_scale.dynamic.floors.size(), 2U);
  EXPECT_EQ(recipe.loss_scale.dynamic.floors[1].step, 200);
  EXPECT_EQ(recipe.loss_scale.dynamic.floors[1].exponent, 6);
  EXPECT_EQ(recipe.norm.kind, NormRule::Kind::range);
  EXPECT_EQ(recipe.norm.range.precision, NormPrecision::int8);
  EXPECT_EQ(recipe.norm.range.channel.constant, RangeConstant::reference);
  EXPECT_EQ(recipe.norm.range.channel.chunks, 16);
  EXPECT_EQ(recipe.norm.range.gradient_rounding, Rounding::sr(8));
  EXPECT_EQ(recipe.norm.parts, 8);
  EXPECT_EQ(parse(start + "norm: {parts: 4}\n" + e5m2_tensors).norm.parts, 4);  // of a standard one
  EXPECT_TRUE(recipe.exempt_first);
  EXPECT_TRUE(recipe.exempt_last);
  ASSERT_TRUE(recipe.pruning);
  EXPECT_EQ(recipe.pruning->sparsity, 0.5);
  EXPECT_EQ(recipe.pruning->max_sparsity, 0.75);
  EXPECT_EQ(recipe.pruning->random_bits, 9);
  EXPECT_EQ(recipe.pruning->min_cosine, 0.98);
  EXPECT_EQ(recipe.pruning->refresh_steps, 7);
  EXPECT_TRUE(recipe.pruning->choose_format);
  ASSERT_TRUE(recipe.compression);
  EXPECT_EQ(recipe.compression->sparsity, 0.99);
  EXPECT_EQ(recipe.compression->momentum, 0.5);
  EXPECT_EQ(recipe.compression->warm_up, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(recipe.compression->sample, 0.125);
  EXPECT_FALSE(recipe.compression->factor_masking);
  EXPECT_EQ(recipe.compression->keep(0), 0.75);
  EXPECT_EQ(recipe.compression->keep(1), 0.5);
  EXPECT_EQ(recipe.compression->keep(2), 1 - 0.99);
  EXPECT_EQ(recipe.clip_norm, 2.5);
  EXPECT_FALSE(recipe.sampling);
}

TEST(RecipeYaml, ErrorsMayHaveACopyForWeights) {
  const Recipe recipe = parse(start + e5m2_tensors + "errors_for_weights: {format: e3m2, rounding: rtz}\n");
  ASSERT_TRUE(recipe.errors_for_weights);
  EXPECT_EQ(recipe.errors_for_weights->type, formats::e3m2);
  EXPECT_EQ(recipe.errors_for_weights->rounding, Rounding::rtz());
  const std::string fixed = "mine.yaml:6: errors_for_weights: needs scale: fixed, for itself and for errors";
  EXPECT_EQ(refused(start + e5m2_tensors + "errors_for_weights: {format: e3m2, scale: max}\n"), fixed);
  EXPECT_EQ(refused(start + "weights: {format: e5m2}\nactivations: {format: e5m2}\n" +
                    "errors: {format: e5m2, scale: centre}\nerrors_for_weights: {format: e3m2}\n"),
            fixed);
  EXPECT_EQ(refused(start + e5m2_tensors + "errors_for_weights: {format: e3m2}\npruning: {sparsity: 0.5}\n"),
            "mine.yaml:6: errors_for_weights: does not go with pruning");
}

TEST(RecipeYaml, EveryRoundingHasAName) {
  const Recipe recipe = parse(start +
                              "weights: {format: e5m2, rounding: rna}\n"
                              "activations: {format: e5m2, rounding: rnz}\n"
                              "errors: {format: e5m2, rounding: rtz}\n"
                              "accumulator: {format: fp16, rounding: rna}\n"
                              "master_weights: {format: fp16, rounding: rnz}\n"
                              "norm: {kind: range, precision: int8, gradient_rounding: rna}\n");
  EXPECT_EQ(recipe.weights.rounding, Rounding::rna());
  EXPECT_EQ(recipe.activations.rounding, Rounding::rnz());
  EXPECT_EQ(recipe.errors.rounding, Rounding::rtz());
  EXPECT_EQ(recipe.accumulator.rounding, Rounding::rna());
  EXPECT_EQ(recipe.master_weights.rounding, Rounding::rnz());
  EXPECT_EQ(recipe.norm.range.gradient_rounding, Rounding::rna());
}

TEST(RecipeYaml, AccumulatorsOfDevicesHaveNames) {
  const std::string rest =
      "name: mine\narithmetic: floating\nweights: {format: e4m3}\nactivations: {format: e4m3}\n"
      "errors: {format: e5m2}\n";
  for (const AccumulatorPreset& preset : accumulator_presets()) {
    const Recipe recipe = parse(rest + "accumulator: " + std::string(preset.name) + "\n");
    EXPECT_EQ(recipe.accumulator.name(), preset.accumulator.name());
  }
  const Recipe spelled =
      parse(rest +
            "accumulator: {kind: \"chunk:32\", format: fp16, inner: \"aligned:16,25,rne\", "
            "inner_format: fp16, order: pairs}\n");
  EXPECT_EQ(spelled.accumulator.name(), accumulator_preset("mma-sm90").accumulator.name());
}

TEST(RecipeYaml, WhatIsNotSaidHasADefault) {
  const Recipe recipe = parse(start + e5m2_tensors);
  EXPECT_EQ(recipe.weights.rounding, Rounding::rne());
  EXPECT_EQ(recipe.weight_gradients.type, formats::fp32);
  EXPECT_EQ(recipe.accumulator.name(), Accumulator{}.name());
  EXPECT_EQ(recipe.master_weights.format, formats::fp32);
  EXPECT_EQ(recipe.loss_scale.kind, LossScaleRule::Kind::none);
  EXPECT_EQ(recipe.norm.kind, NormRule::Kind::standard);
  EXPECT_FALSE(recipe.errors_for_weights || recipe.pruning || recipe.compression || recipe.sampling);
  EXPECT_FALSE(recipe.exempt_first || recipe.exempt_last);
  EXPECT_EQ(recipe.of(TensorClass::errors).type, formats::e5m2);
  EXPECT_EQ(recipe.of(TensorClass::weight_gradients).type, formats::fp32);
}

TEST(RecipeYaml, UnknownKeysAreNamedWithTheirLine) {
  EXPECT_EQ(refused(start + e5m2_tensors + "weigths: {format: e5m2}\n"),
            "mine.yaml:6: unknown key 'weigths' in 'recipe'; allowed: name, arithmetic, source, weights, "
            "activations, errors, weight_gradients, errors_for_weights, accumulator, master_weights, "
            "loss_scale, norm, exempt_first, exempt_last, pruning, clip_norm, compression, sampling");
  EXPECT_EQ(refused(start + "activations: {format: e5m2}\nerrors: {format: e5m2}\n"
                            "weights:\n  format: e5m2\n  round: rne\n"),
            "mine.yaml:7: unknown key 'round' in 'weights'; allowed: format, overflow, via, scale, "
            "scale_exponent, rounding");
  // A key of the other arithmetic is none here.
  EXPECT_EQ(refused(start + "activations: {format: e5m2}\nerrors: {format: e5m2}\nweights: {bits: 8}\n"),
            "mine.yaml:5: unknown key 'bits' in 'weights'; allowed: format, overflow, via, scale, "
            "scale_exponent, rounding");
}

TEST(RecipeYaml, BadValuesAreNamedWithTheirLine) {
  const struct {
    std::string line;
    std::string message;
  } cases[] = {
      {"weight_gradients: {format: e9m2}", "mine.yaml:6: format: "},
      {"weight_gradients: {format: fp33}", "mine.yaml:6: format: "},
      {"weight_gradients: {rounding: up}", "mine.yaml:6: rounding: "},
      {R"(weight_gradients: {rounding: "u\ep\n"})",
       R"(mine.yaml:6: rounding: unknown rounding 'u\x1bp\x0a'; allowed: rne)"},
      {"weight_gradients: {rounding: " + std::string(65, 'r') + "}",
       "mine.yaml:6: rounding: unknown rounding '" + std::string(40, 'r') + "...'; allowed: rne"},
      {"weight_gradients: {rounding: \"sr:17\"}", "mine.yaml:6: weight_gradients.rounding: 17 random bits"},
      {"weight_gradients: {overflow: wrap}", "mine.yaml:6: overflow: "},
      {"weight_gradients: {scale: maximum}", "mine.yaml:6: scale is 'maximum'; allowed: fixed, max, centre"},
      {"weight_gradients: {scale_exponent: 128}",
       "mine.yaml:6: scale_exponent is '128'; it must be a whole number in -128..127"},
      {"weight_gradients: {scale_exponent: 1.5}",
       "mine.yaml:6: scale_exponent is '1.5'; it must be a whole number in -128..127"},
      {"weight_gradients: {scale: max, scale_exponent: 1}",
       "mine.yaml:6: scale_exponent belongs to scale: fixed"},
      {"weight_gradients: e5m2", "mine.yaml:6: 'weight_gradients' is a word; it must be a map"},
      {"accumulator: {kind: \"chunk:0\"}", "mine.yaml:6: kind: unknown accumulator option"},
      {"accumulator: {kind: plain, inner_format: fp16}",
       "mine.yaml:6: inner, inner_format, inner_rounding and order belong"},
      {R"(accumulator: {kind: plain, inner: "aligned:4,8"})", "mine.yaml:6: inner, inner_format"},
      {R"(accumulator: {kind: "chunk:4", inner: "fused:4"})",
       "mine.yaml:6: inner: unknown inner accumulator"},
      {R"(accumulator: {kind: "chunk:4", order: pairs})", "mine.yaml:6: order belongs to an aligned inner"},
      {R"(accumulator: {kind: "chunk:4", inner: "aligned:4,8", order: both})",
       "mine.yaml:6: order: unknown order 'both'"},
      {R"(accumulator: {kind: "chunk:4", inner: "aligned:4,8", inner_rounding: rne})",
       "mine.yaml:6: an aligned inner"},
      {"accumulator: volta", "mine.yaml:6: accumulator: unknown accumulator preset 'volta'; allowed: hopper"},
      {"accumulator: {format: \"e8m7:bias=300\"}", "mine.yaml:6: accumulator: accumulator format"},
      {"master_weights: {format: e5m2}", "mine.yaml:6: master_weights.format: e5m2; it must be fp32 or fp16"},
      {"loss_scale: {kind: constant}", "mine.yaml:6: 'loss_scale' needs a key 'exponent'"},
      {"loss_scale: {kind: constant, exponent: 25}", "mine.yaml:6: exponent is '25'; it must be a whole"},
      {"loss_scale: {kind: constant, exponent: 3, growth_interval: 2}",
       "mine.yaml:6: unknown key 'growth_interval' in 'loss_scale'; allowed: kind, exponent"},
      {"loss_scale: {kind: dynamic, exponent: 3, floors: [{step: 5, exponent: 9}, {step: 4, exponent: 9}]}",
       "mine.yaml:6: loss_scale: "},
      {"norm: {kind: standard, chunks: 4}",
       "mine.yaml:6: unknown key 'chunks' in 'norm'; allowed: kind, parts"},
      {"norm: {parts: 0}", "mine.yaml:6: parts is '0'; it must be a whole number in 1..1048576"},
      {"norm: {parts: 1048577}", "mine.yaml:6: parts is '1048577'; it must be a whole number in 1..1048576"},
      {"norm: {parts: two}", "mine.yaml:6: parts is 'two'; it must be a whole number in 1..1048576"},
      {"norm: {kind: range, constant: mine}", "mine.yaml:6: constant: "},
      {"exempt_first: yes", "mine.yaml:6: exempt_first is 'yes'; allowed: true, false"},
      {"pruning: {sparsity: 1}",
       "mine.yaml:6: sparsity is '1'; it must be a number in 0..0.9999999999999999"},
      {"pruning: {sparsity: nan}", "mine.yaml:6: sparsity is 'nan'"},
      {"pruning: {sparsity: 0.9, max_sparsity: 0.8}", "mine.yaml:6: pruning.max_sparsity: is below"},
      {"pruning: {min_cosine: 0}", "mine.yaml:6: pruning.min_cosine: must be above 0"},
      {"pruning: {min_cosine: 1}", "mine.yaml:6: min_cosine is '1'; it must be a number in 0..0.999"},
      {"compression: {warm_up: [0.5, 0.25]}", "mine.yaml:6: compression.warm_up: must not fall"},
      {"compression: {warm_up: 0.5}", "mine.yaml:6: 'warm_up' is a word; it must be a list of numbers"},
      {"compression: {warm_up: [[0.5]]}", "mine.yaml:6: 'warm_up' must be a list of numbers"},
      {"compression: {sample: 0}", "mine.yaml:6: sample is '0'; it must be a number in 1e-12..1"},
      {"clip_norm: 0", "mine.yaml:6: clip_norm: must be above 0 and at most 1e9"},
      {"clip_norm: -1", "mine.yaml:6: clip_norm is '-1'; it must be a number in 0..1"},
      {"sampling: {levels: 127}", "mine.yaml:6: sampling: needs arithmetic fp32"},
      {"name: again", "mine.yaml:6: key 'name' appears twice; first in line 1"},
  };
  for (const auto& [line, message] : cases) {
    std::string text = start + e5m2_tensors;
    text.append(line).append("\n");
    const std::string said = refused(text);
    EXPECT_EQ(said.substr(0, message.size()), message) << "for: " << line << "\nsaid: " << said;
  }
}

TEST(RecipeYaml, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(refused("arithmetic: fp32\n"), "mine.yaml:1: 'recipe' needs a key 'name'");
  EXPECT_EQ(refused(start), "mine.yaml:1: 'recipe' needs a key 'weights'");
  EXPECT_EQ(refused("name: x\narithmetic: fp32\nweights: {format: e5m2}\n"),
            "mine.yaml:3: weights.format: e5m2 with arithmetic fp32; it must be fp32");
  EXPECT_EQ(refused("name: x\narithmetic: fp32\naccumulator: {format: fp16}\n"),
            "mine.yaml:3: accumulator: arithmetic fp32 accumulates in fp32, rne, plain");
  EXPECT_EQ(refused(start + "weights: {format: e5m2}\nactivations: {format: fp16}\nerrors: {format: e5m2}\n"),
            "mine.yaml:4: activations.format: fp16 has 16 bits; the multipliers take at most 8");
  // Two formats of 8 bits whose products leave FP32.
  const std::string far = refused(start +
                                  "weights: {format: \"e5m2:bias=100\"}\nactivations: {format: e5m2}\n"
                                  "errors: {format: \"e5m2:bias=100\"}\n");
  EXPECT_EQ(far.find("mine.yaml:5: errors: the input gradient multiplies"), 0U) << far;
  const std::string integer =
      "name: x\narithmetic: gemmlowp\nweights: {bits: 16}\nactivations: {bits: 8}\nerrors: {bits: 8}\n";
  EXPECT_EQ(refused(integer), "(accepted)");
  EXPECT_EQ(refused(integer + "errors_for_weights: {bits: 16}\n"), "(accepted)");
  EXPECT_EQ(refused(integer + "errors_for_weights: {bits: 16, rounding: rnz}\n"), "(accepted)");
  EXPECT_EQ(refused(integer + "errors_for_weights: {bits: 16, rounding: rtz}\n"),
            "mine.yaml:6: errors_for_weights.rounding: a gemmlowp quantizer rounds rne, sr:r, rna, rnz");
  EXPECT_EQ(refused(integer + "norm: {kind: range, precision: int8, gradient_rounding: rtz}\n"),
            "mine.yaml:6: norm.gradient_rounding: a gemmlowp quantizer rounds rne, sr:r, rna, rnz");
  EXPECT_EQ(refused("name: x\narithmetic: gemmlowp\nweights: {bits: 16}\nactivations: {bits: 16}\n"
                    "errors: {bits: 8}\n"),
            "mine.yaml:3: weights: both operands of the forward pass have 16 bits; at most one may");
  EXPECT_EQ(refused("name: x\narithmetic: gemmlowp\nweights: {bits: 12}\nactivations: {bits: 8}\n"
                    "errors: {bits: 8}\n"),
            "mine.yaml:3: weights.bits: must be 8 or 16");
  EXPECT_EQ(refused(integer + "accumulator: {format: fp32}\n"),
            "mine.yaml:6: accumulator: gemmlowp sums exactly in 48 bits; leave this section out");
  EXPECT_EQ(refused(integer + "weight_gradients: {bits: 8}\n"),
            "mine.yaml:6: weight_gradients.bits: must be 32: sums of gemmlowp stay FP32");
  for (const std::string& other : {integer, std::string("name: x\narithmetic: fp32\n")}) {
    const std::string said = refused(other + "pruning: {sparsity: 0.5}\n");
    EXPECT_NE(said.find(": pruning: needs arithmetic floating"), std::string::npos) << said;
  }
}

TEST(Recipe, ChunksOfRangeBnDivideAChannel) {
  NormRule rule;
  rule.range.channel.chunks = 16;
  const auto chunks = [&](std::int64_t n) { return rule.fitting(n).range.channel.chunks; };
  EXPECT_EQ(chunks(6272), 16);
  EXPECT_EQ(chunks(196), 14);
  EXPECT_EQ(chunks(16), 8);  // parts of two
  EXPECT_EQ(chunks(13), 1);
  EXPECT_EQ(chunks(2), 1);
  EXPECT_EQ(chunks(1), 1);  // the unit refuses it
}

TEST(Recipe, PartsOfANormDivideAChannelAndGoWithItsChunks) {
  NormRule rule;
  rule.parts = 8;
  const auto parts = [&](std::int64_t n) { return rule.fitting(n).parts; };
  for (const NormRule::Kind kind : {NormRule::Kind::standard, NormRule::Kind::range}) {
    rule.kind = kind;
    EXPECT_EQ(parts(50176), 8);
    EXPECT_EQ(parts(196), 7);
    EXPECT_EQ(parts(12), 6);  // of two
    EXPECT_EQ(parts(13), 1);
    EXPECT_EQ(parts(2), 1);
    EXPECT_EQ(rule.fitting(196).range.channel.parts, 7);
  }
  rule.range.channel.chunks = 16;
  EXPECT_EQ(parts(6272), 8);
  EXPECT_EQ(parts(196), 7);  // chunks: 14
  rule.range.channel.chunks = 6;
  EXPECT_EQ(parts(72), 6);
  rule.range.channel.chunks = 5;
  EXPECT_EQ(parts(40), 5);
  rule.range.channel.chunks = 3;
  EXPECT_EQ(parts(24), 6);
  rule.kind = NormRule::Kind::standard;
  EXPECT_EQ(parts(24), 8);
}

}  // namespace
}  // namespace mantissa::test

// A recorded training step, replayed: every GEMM and batch norm gives the bits that it had in training.
#include <gtest/gtest.h>

#include <memory>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_text.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/simulated_check.hpp"
#include "sim/trace/run_record.hpp"
#include "sim/train/recorder.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

using mantissa::test::Scratch;

ReplayReport replayed(const std::string& path, const Recipe& recipe, int cols, const char* engine) {
  Architecture arch = load_architecture("edge").value;
  arch.rows = 4;
  arch.cols = cols;
  const trace::Trace trace(path);
  const std::unique_ptr<replay::CrossCheck> check = replay::make_cross_check({.engine = engine});
  replay::Options options;
  options.threads = 2;
  return replay::replay(trace, recipe, arch, {load_energy_table("horowitz45").value}, check.get(), options,
                        {});
}

// Records steps 4 and 8 of a short run, which says that it followed `claimed`; returns the trace.
std::string record(const Recipe& recipe, const Scratch& scratch, const Recipe& claimed) {
  const FashionMnist data = test::toy_data(160, 10);
  RunOptions options = test::toy_options(1);
  options.seed = 5;
  trace::Run run;
  run.run_seed = options.seed;
  run.rows = options.rows;
  run.cols = options.cols;
  run.recipe = recipe.name;
  run.recipe_digest = recipe_digest(claimed);
  std::string path = scratch.path() + "/" + recipe.name + ".safetensors";
  Recorder recorder(path, {8, 4}, run);
  Model model(test::toy_network(), recipe, options.seed);
  Trainer(model, data, options, &recorder).run({}, {});
  return path;
}
std::string record(const Recipe& recipe, const Scratch& scratch) { return record(recipe, scratch, recipe); }

// Elements of all results of a step: per layer output and gradients.
std::uint64_t results_of(const trace::Trace& trace) {
  std::uint64_t elements = 0;
  for (const std::uint32_t step : trace.steps()) {
    for (const trace::Layer& layer : trace.layers()) {
      for (const trace::Role role :
           {trace::Role::output, trace::Role::grad_input, trace::Role::grad_weight}) {
        if (const trace::TensorInfo* tensor = trace.find(step, layer, role)) elements += tensor->elements();
      }
    }
  }
  return elements;
}

std::vector<Recipe> recipes() {
  std::vector<Recipe> all;
  for (const char* name : {"fp32", "fp8", "fp8-hybrid", "int8-rangebn", "lognormal-sparse"})
    all.push_back(test::toy_recipe(name));
  Recipe narrow = test::toy_recipe("fp8");
  narrow.name = "fp8, E6M5 accumulator";
  narrow.accumulator = Accumulator::parse("plain", Format::parse("e6m5"), Rounding::parse("sr:13"));
  all.push_back(narrow);
  Recipe chunked = test::toy_recipe("fp8");
  chunked.name = "fp8, FP16 in chunks";
  chunked.accumulator = Accumulator::parse("chunk:8", formats::fp16, Rounding::rne());
  all.push_back(chunked);
  Recipe two_copies = test::toy_recipe("fp8");
  two_copies.name = "fp8, errors for weights in E4M3";
  two_copies.errors_for_weights = TensorFormat{.type = formats::e4m3, .rounding = Rounding::sr(8)};
  all.push_back(two_copies);
  // Scales of their own, so far apart that one in place of the other saturates.
  Recipe two_scales = two_copies;
  two_scales.name = "fp8, errors for weights in E4M3, scaled";
  two_scales.errors.overflow = Overflow::saturate;
  two_scales.errors_for_weights->overflow = Overflow::saturate;
  two_scales.errors_for_weights->scale_exponent = 30;
  two_scales.loss_scale.kind = LossScaleRule::Kind::constant;
  two_scales.loss_scale.exponent = 6;
  all.push_back(two_scales);
  return all;
}

TEST(Record, ReplaysWithTheBitsOfTraining) {
  for (const Recipe& recipe : recipes()) {
    const Scratch scratch;
    const std::string path = record(recipe, scratch);
    const ReplayReport report = replayed(path, recipe, 4, "fast");
    EXPECT_EQ(report.run_bits.different, 0U) << recipe.name;
    EXPECT_EQ(report.run_bits.compared, results_of(trace::Trace(path))) << recipe.name;
    EXPECT_GT(report.run_bits.compared, 20000U) << recipe.name;
  }
}

TEST(Record, HasAllOfTheRunsForwardMacs) {
  const Scratch scratch;
  const trace::Trace trace(record(test::toy_recipe("fp8"), scratch));
  EXPECT_EQ(trace.coverage(), 1);
  EXPECT_TRUE(trace.capture()->notes.empty());
}

TEST(Record, AnotherArrayOrRecipeIsNotCompared) {
  const Scratch scratch;
  const Recipe recipe = test::toy_recipe("fp8");
  const std::string path = record(recipe, scratch);
  EXPECT_EQ(replayed(path, recipe, 8, "fast").run_bits.compared, 0U);
  EXPECT_EQ(replayed(path, test::toy_recipe("fp8-hybrid"), 4, "fast").run_bits.compared, 0U);
}

TEST(Record, ADifferentTensorIsSeen) {
  const Scratch scratch;
  Recipe claimed = test::toy_recipe("fp8");
  claimed.errors.rounding = Rounding::rne();  // not what the run did
  const std::string path = record(test::toy_recipe("fp8"), scratch, claimed);
  const RunBits bits = replayed(path, claimed, 4, "fast").run_bits;
  EXPECT_GT(bits.different, 100U);
  EXPECT_LT(bits.different, bits.compared);
}

TEST(Record, AnEditedRecipeOfTheSameNameIsAnotherOne) {
  const Scratch scratch;
  Recipe recipe = test::toy_recipe("fp8");
  const std::string path = record(recipe, scratch);
  EXPECT_GT(replayed(path, recipe, 4, "fast").run_bits.compared, 0U);
  recipe.errors.rounding = Rounding::sr(8);
  EXPECT_EQ(replayed(path, recipe, 4, "fast").run_bits.compared, 0U);
  recipe.errors.rounding = Rounding::sr(16);
  recipe.name = "renamed";
  EXPECT_GT(replayed(path, recipe, 4, "fast").run_bits.compared, 0U);
}

TEST(Record, RunsGoThroughJsonAndBack) {
  trace::Run run;
  run.run_seed = 7;
  run.rows = 4;
  run.cols = 8;
  run.recipe = "fp8";
  trace::RunStep step;
  step.step = 12;
  step.loss_scale = 4096;
  LayerRegisters& registers = step.registers["fc"];
  registers.tau = 0.25;
  registers.error_format = formats::e4m3;
  registers.target = 0.85;
  registers.correction = -0.01;
  registers.scale_of(Role::grad_input) = -3;
  run.by_step = {step};
  trace::Layer layer;
  layer.name = "fc";
  const trace::Run back = trace::parse_run(trace::run_json(run), {layer}, "file").run;
  EXPECT_EQ(back.run_seed, run.run_seed);
  ASSERT_NE(back.at(12), nullptr);
  EXPECT_EQ(back.at(11), nullptr);
  EXPECT_EQ(back.at(12)->loss_scale, 4096);
  ASSERT_NE(back.at(12)->registers_of("fc"), nullptr);
  EXPECT_EQ(*back.at(12)->registers_of("fc"), registers);
  EXPECT_EQ(back.at(12)->registers_of("conv"), nullptr);
}

}  // namespace
}  // namespace mantissa::train

// What a replay says before its figures and beside them: warnings, steps, the accumulator's share of the
// error, a timeline.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testbench/cli/replay_run.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

TEST(ReplayReport, StepsAddUpToTheWhole) {
  const Json all = replay({cnn});
  EXPECT_EQ(all["images"], 8);
  const Json& steps = all["totals"]["by_step"];
  ASSERT_EQ(steps.size(), 2U);
  std::uint64_t cycles = 0;
  for (const auto& [number, step] : steps.items()) {
    EXPECT_EQ(step["images"], 4);
    const Json alone = replay({cnn, "--steps", number});
    for (const char* key : {"cycles", "images_per_second", "gradient_sparsity", "min_sqnr_db", "dram_bytes"})
      EXPECT_EQ(step[key], alone["totals"][key]) << number << " " << key;
    cycles += step["cycles"].get<std::uint64_t>();
  }
  EXPECT_EQ(all["totals"]["cycles"], cycles);
  std::string out = run_mantissa({"replay", cnn}).out;
  for (std::size_t at = 0; (at = out.find("\n    ")) != std::string::npos;)
    out.replace(at, 5, " ");  // wrapped
  EXPECT_TRUE(contains(out, ", 2 steps, 8 images, ")) << out;
}

TEST(ReplayReport, AWideAccumulatorLosesLessThanANarrowOne) {
  double before = 0;
  for (const char* format : {"bf16", "fp16", "fp32"}) {
    const Json report = replay({cnn, "--set", std::string("accumulator.format=") + format});
    const Json& totals = report["totals"];
    EXPECT_GT(totals["min_accumulator_sqnr_db"].get<double>(), before) << format;
    before = totals["min_accumulator_sqnr_db"];
    EXPECT_GE(totals["median_accumulator_sqnr_db"].get<double>(), before) << format;
  }
  // Exact sums with one rounding to FP32: half a unit of 24 bits is 150 dB.
  const Json exact = replay({cnn, "--set", "accumulator.kind=kulisch"});
  for (const Json& layer : exact["layers"]) {
    if (!layer["formats"].get<std::string>().starts_with("e5m2 x") || layer["accumulator_exact"]) continue;
    EXPECT_GT(layer["accumulator_sqnr_db"], 145) << layer["layer"];
  }
}

// A loss scale that lifts gradients beyond E5M2.
TEST(ReplayReport, ResultsThatAreNotFiniteAreTheFirstLine) {
  const std::vector<std::string> arguments = {"--loss-scale", "24", "--set", "errors.overflow=ieee"};
  std::vector<std::string> command = {cnn};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Json report = replay(command);
  const std::uint64_t count = report["totals"]["nonfinite"];
  ASSERT_GT(count, 0U);
  ASSERT_FALSE(report["warnings"].empty());
  std::string warning = report["warnings"][0];
  std::uint64_t worst = 0;
  std::string layer;
  for (const Json& one : report["layers"]) {
    std::uint64_t of_layer = 0;
    for (const Json& other : report["layers"]) {
      if (other["layer"] == one["layer"]) of_layer += other["nonfinite"].get<std::uint64_t>();
    }
    if (of_layer > worst) {
      worst = of_layer;
      layer = one["layer"];
    }
  }
  std::erase(warning, ',');
  EXPECT_TRUE(warning.starts_with(std::to_string(count) + " of ")) << warning;
  EXPECT_TRUE(contains(warning, "layers " + layer + " (" + std::to_string(worst) + ")")) << warning;
  command.insert(command.begin(), "replay");
  const std::string out = run_mantissa(command).out;
  EXPECT_TRUE(out.starts_with("warning: " + report["warnings"][0].get<std::string>().substr(0, 40))) << out;
  EXPECT_TRUE(replay({cnn})["warnings"].empty());
}

TEST(ReplayReport, ADataflowWithoutMemoryHasNoTotalOfEnergy) {
  const Scratch scratch;
  const std::string arch = written(scratch, "a.yaml", "name: a\ndataflow: scalesim-os\n");
  const Json report = replay({cnn, "--arch", arch});
  ASSERT_EQ(report["warnings"].size(), 1U);
  EXPECT_TRUE(contains(report["warnings"][0].get<std::string>(), "dataflow scalesim-os is another"));
  EXPECT_TRUE(report["totals"]["energy_total_pj"].is_null());
  EXPECT_GT(report["totals"]["energy_pj"]["multiply"], 0);
  EXPECT_TRUE(report["timeline"].is_null());
  for (const Json& layer : report["layers"])
    EXPECT_EQ(layer["energy_total_pj"].is_null(), layer["kind"] != "batchnorm") << layer["layer"];
  EXPECT_TRUE(contains(run_mantissa({"replay", cnn, "--arch", arch}).out, " - pJ executed, - pJ dense"));
}

// Both machines; the one of groups has its groups one after the other.
TEST(ReplayReport, TheTimelineIsThatOfTheLongestProduct) {
  for (const char* mapping : {"mapping=simple", "mapping=auto"}) {
    const Json report = replay({cnn, "--set", mapping});
    const Json& timeline = report["timeline"];
    std::uint64_t most = 0;
    Json longest;
    for (const Json& layer : report["layers"]) {
      if (layer["kind"] == "batchnorm" || layer["cycles"].get<std::uint64_t>() <= most) continue;
      most = layer["cycles"];
      longest = layer;
    }
    for (const char* key : {"step", "layer", "pass", "mapping", "cycles", "memory_steps"})
      EXPECT_EQ(timeline[key], longest[key]) << mapping << " " << key;
    std::uint64_t sum = 0;
    for (const char* activity : {"compute", "stall_load", "stall_write_back", "stall_drain"}) {
      for (const Json& interval : timeline[activity])
        sum += interval[1].get<std::uint64_t>() - interval[0].get<std::uint64_t>();
    }
    EXPECT_EQ(timeline["shown_cycles"], sum);
    EXPECT_LE(timeline.dump().size(), 64000U);
  }
}

// The keys of a report, written into files, give the same replay.
TEST(ReplayReport, KeysOfMachineAndRecipeSayAllThatCounts) {
  const Scratch scratch;
  const Json report = replay({cnn, "--recipe", "lognormal-sparse", "--arch", "rapid-core", "--set", "depth=4",
                              "--set", "clock=1GHz", "--set", "errors.rounding=rne", "--set",
                              "accumulator.format=fp16", "--loss-scale", "7"});
  std::string arch;
  for (const auto& [key, value] : report["arch"]["keys"].items())
    arch.append(key).append(": \"").append(value.get<std::string>()).append("\"\n");
  EXPECT_TRUE(contains(arch, "depth: \"4\"\n")) << arch;
  EXPECT_TRUE(contains(arch, "clock: \"1GHz\"\n")) << arch;
  const std::string recipe = written(scratch, "recipe.yaml", "name: x\narithmetic: floating\n");
  std::vector<std::string> command = {cnn, "--recipe", recipe, "--arch", written(scratch, "arch.yaml", arch)};
  for (const auto& [key, value] : report["recipe"]["keys"].items()) {
    if (key == "source") continue;  // says nothing of numbers, and may be long
    command.insert(command.end(), {"--set", "recipe." + key + "=" + value.get<std::string>()});
  }
  EXPECT_EQ(report["recipe"]["keys"]["loss_scale.exponent"], "7");
  EXPECT_EQ(report["recipe"]["keys"]["errors.rounding"], "rne");
  const Json again = replay(command);
  EXPECT_EQ(again["layers"], report["layers"]);
  EXPECT_EQ(again["arch"]["keys"], report["arch"]["keys"]);
}

TEST(ReplayReport, TheTimelineMayBeThatOfALayer) {
  const Json timeline = replay({cnn, "--set", "mapping=auto", "--timeline", "fc"})["timeline"];
  EXPECT_EQ(timeline["layer"], "fc");
  EXPECT_EQ(timeline["shown_cycles"], timeline["cycles"]);  // a small one is shown as a whole
  for (const char* name : {"nowhere", "stem.bn"}) {
    const Finished run = run_mantissa({"replay", cnn, "--timeline", name});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(contains(run.err, std::string("there is no layer '") + name + "' with products")) << run.err;
    EXPECT_TRUE(contains(run.err, "allowed: stem.conv, ")) << run.err;
  }
}

}  // namespace
}  // namespace mantissa::test

// What `mantissa trace synth` makes by default can be trained with: under no shipped recipe a result
// overflows.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/support/config_file.hpp"
#include "testbench/cli/replay_run.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

std::string synth(const Scratch& scratch, std::vector<std::string> options) {
  std::string file = scratch.path() + "/" + options.front();
  options.insert(options.begin(), {"trace", "synth", "--out", file, "--net"});
  const Finished run = run_mantissa(options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return file;
}

void expect_sane(const std::string& file, const std::string& recipe) {
  SCOPED_TRACE(file + " " + recipe);
  const Json report = replay({file, "--recipe", recipe});
  for (const Json& pass : report["layers"]) {
    EXPECT_EQ(pass.value("nonfinite", std::uint64_t{0}), 0U) << pass["layer"] << " " << pass["pass"];
    // Neither do they vanish: results follow those of FP64.
    if (pass["kind"] != "batchnorm" && recipe.starts_with("fp")) {
      EXPECT_GT(pass["cosine"].get<double>(), 0.97) << pass["layer"] << " " << pass["pass"];
    }
  }
}

void expect_sane_under_all_recipes(const std::vector<std::string>& network) {
  const Scratch scratch;
  const std::string file = synth(scratch, network);
  for (const std::string& recipe : shipped_configs(ConfigKind::recipe)) expect_sane(file, recipe);
}

TEST(Synth, NoShippedRecipeOverflows) {
  expect_sane_under_all_recipes({"resnet18", "--image", "32x32", "--batch", "4"});
  expect_sane_under_all_recipes({"mlp"});
  expect_sane_under_all_recipes({"transformer", "--tokens", "32", "--batch", "2"});
}

TEST(LongSynth, NoShippedRecipeOverflowsDeepNetworks) {
  expect_sane_under_all_recipes({"resnet18", "--image", "64x64", "--batch", "4"});
  expect_sane_under_all_recipes({"resnet50", "--image", "64x64"});
}

// All layers in 8 bits, at the size at which one mu for all of them overflowed.
TEST(Synth, ImagesOfFullSizeDoNotOverflow) {
  const Scratch scratch;
  expect_sane(synth(scratch, {"resnet18", "--batch", "4"}), "fp8-hybrid");
}

}  // namespace
}  // namespace mantissa::test

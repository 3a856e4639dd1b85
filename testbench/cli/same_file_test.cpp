// No command writes over what it reads, or over another of its results.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "testbench/cli/replay_run.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

class SameFile : public testing::Test {
 protected:
  std::string in(const std::string& name) const { return scratch_.path() + "/" + name; }
  // A file of the source tree that must stay as it is.
  std::string copied(const std::string& path, const std::string& name) const {
    fs::copy_file(fs::path(MANTISSA_SOURCE_DIR) / path, in(name));
    return in(name);
  }
  static void expect_refused(const std::vector<std::string>& arguments, const std::string& file,
                             const std::string& words) {
    const std::string before = contents(file);
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_TRUE(contains(run.err, words)) << run.err;
    EXPECT_TRUE(contents(file) == before) << file << " is changed";
  }

  Scratch scratch_;
};

TEST_F(SameFile, ACsvIsNoneOfAReplaysInputs) {
  const std::string energy = copied("sim/configs/energy/horowitz45.yaml", "energy.yaml");
  const std::string arch = written(scratch_, "arch.yaml", "name: a\nenergy: energy.yaml\n");
  const std::string recipe = copied("sim/configs/recipes/fp8.yaml", "recipe.yaml");
  const std::string trace = copied("traces/fashion-cnn.safetensors", "trace");
  fs::create_symlink("energy.yaml", in("link"));
  fs::create_hard_link(energy, in("hard"));
  const std::string words = " are one file; it would be overwritten";
  const std::vector<std::pair<std::string, std::string>> cases = {{energy, energy},     {in("link"), energy},
                                                                  {in("hard"), energy}, {arch, arch},
                                                                  {recipe, recipe},     {trace, trace}};
  for (const auto& [csv, file] : cases) {
    expect_refused({"replay", trace, "--arch", arch, "--recipe", recipe, "--csv", csv}, file, words);
  }
  expect_refused({"replay", trace, "--set", "energy=" + energy, "--csv", energy}, energy, words);
}

// The directory is replaced as a whole: a former report must not be spoiled before that is refused.
TEST_F(SameFile, ACsvIsNotInTheReportsDirectory) {
  fs::create_directory(in("report"));
  const std::string json = written(scratch_, "report/report.json", "not ours to lose");
  for (const char* name :
       {"report/report.json", "report/layers.csv", "report/mine.csv", "report/../report/x"}) {
    expect_refused({"replay", cnn, "--out", in("report"), "--csv", in(name)}, json,
                   "the directory is replaced");
  }
  const std::string energy = copied("sim/configs/energy/horowitz45.yaml", "report/energy.yaml");
  expect_refused({"replay", cnn, "--set", "energy=" + energy, "--out", in("report")}, energy,
                 "the directory is replaced");
}

// And not after hours of work.
TEST_F(SameFile, ACsvThatCannotBeWrittenIsRefusedBeforeTheRun) {
  const std::string text = written(scratch_, "text", "no trace, as would be found next");
  const Finished run = run_mantissa({"replay", text, "--csv", in("none/layers.csv")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "cannot create " + in("none/layers.csv"))) << run.err;
}

TEST_F(SameFile, AnImportedTraceIsNotItsTopology) {
  const std::string csv = written(scratch_, "t.csv", "Layer, M, N, K,\nx, 4, 4, 4,\n");
  fs::create_symlink("t.csv", in("link"));
  for (const std::string& out : {csv, in("link"), in("./t.csv")})
    expect_refused({"trace", "import", csv, "--out", out}, csv, " are one file; it would be overwritten");
}

TEST_F(SameFile, AWaveformIsNoneOfADevicesSources) {
  const std::string device = copied("testbench/verify/foreign/wide_mac.sv", "wide_mac.sv");
  const std::string map = written(scratch_, "map.yaml",
                                  "ports: {a_i: opa, b_i: opb, acc_i: addend, acc_o: result}\nlatency: 0\n");
  for (const std::string& file : {device, map}) {
    expect_refused({"verify", "fp8_mac", "--config", "e5m2 fp32", "--vectors", "10", "--dut", device, "--top",
                    "wide_mac", "--map-file", map, "--wave", file},
                   file, " are one file; it would be overwritten");
  }
}

}  // namespace
}  // namespace mantissa::test

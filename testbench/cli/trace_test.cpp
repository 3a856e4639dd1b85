// `mantissa trace` as a user meets it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

class TraceCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string synth(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"trace",      "synth",   "--net", "mlp",   "--widths",
                                       "30,200,100", "--batch", "50",    "--out", path("mlp")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return path("mlp");
  }
  Scratch scratch_;
};

// A few hundred bytes that describe hundreds of millions of outputs, or 10^13 multiplications.
TEST_F(TraceCommand, WhatIsTooLargeForAReplayIsRefusedByBothBeforeTheyBegin) {
  const std::string large =
      write("large", trace_bytes(R"([{"kind":"conv2d","name":"c","dilation":30000,"padding":30000}])",
                                 {{"s0.c.input", {1, 1, 1, 1}}, {"s0.c.weight", {1, 1, 2, 2}}}));
  const std::string long_ =
      write("long", trace_bytes(R"([{"kind":"conv2d","name":"c","dilation":600,"padding":9000}])",
                                {{"s0.c.input", {1, 1, 1, 1}}, {"s0.c.weight", {1, 1, 16, 16}}}));
  const std::vector<std::tuple<std::string, std::vector<std::string>, std::string>> cases = {
      {large,
       {},
       "step 0, layer 'c': a replay would take 33.53 GiB of memory, more than 8 GiB; --memory 34 allows it"},
      {long_, {"--work", "0.01", "--memory", "64"}, "multiplications, more than 0.01 x 10^12; --work"},
      {long_, {"--memory", "0.5"}, "GiB of memory, more than 0.5 GiB"},
  };
  for (const auto& [file, options, words] : cases) {
    std::vector<std::string> check = {"trace", "check", file};
    std::vector<std::string> replay = {"replay", file};
    check.insert(check.end(), options.begin(), options.end());
    replay.insert(replay.end(), options.begin(), options.end());
    const Finished checked = run_mantissa(check);
    const Finished replayed = run_mantissa(replay);
    EXPECT_EQ(checked.exit_code, 2);
    EXPECT_EQ(replayed.exit_code, 2);
    EXPECT_EQ(checked.err, replayed.err);
    EXPECT_TRUE(contains(checked.err, words)) << checked.err;
  }
  EXPECT_EQ(run_mantissa({"trace", "check", large, "--memory", "34"}).exit_code, 0);
}

TEST_F(TraceCommand, SynthesisedTracesAreWhatInfoSays) {
  const std::string file = synth({"--sparsity", "0.7", "--mu", "-6", "--sigma", "1.5"});
  EXPECT_EQ(run_mantissa({"trace", "check", file}).exit_code, 0);
  const Finished run = run_mantissa({"trace", "info", file, "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto info = nlohmann::json::parse(run.out);
  EXPECT_EQ(info["steps"], nlohmann::json::array({0}));
  ASSERT_EQ(info["layers"].size(), 2U);
  EXPECT_EQ(info["layers"][0]["input_gradient"], false);
  ASSERT_EQ(info["tensors"].size(), 8U);
  const auto& input = info["tensors"][4];
  EXPECT_EQ(input["name"], "s0.fc2.input");
  EXPECT_EQ(input["shape"], nlohmann::json::array({50, 200}));
  EXPECT_NEAR(input["zeros"].get<double>() / input["elements"].get<double>(), 0.7, 0.02);
  EXPECT_NEAR(input["mean"].get<double>(), 0.3 * std::sqrt(2 / std::acos(-1.0)), 0.02);
  ASSERT_EQ(info["gradients"].size(), 2U);
  EXPECT_NEAR(info["gradients"][0]["zero_share"].get<double>(), 0.7, 0.02);
  EXPECT_NEAR(info["gradients"][1]["mu"].get<double>(), -6, 0.1);
  EXPECT_NEAR(info["gradients"][1]["sigma"].get<double>(), 1.5, 0.1);
  EXPECT_EQ(info["gradients"][1]["closest"], "lognormal");
  EXPECT_EQ(info["gradients"][1]["scale_exponent"], 9);  // 6 / ln 2 = 8.66
  EXPECT_EQ(info["lognormal_closest"], 2);
}

TEST_F(TraceCommand, InfoIsReadable) {
  const Finished run = run_mantissa({"trace", "info", synth()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = lines_of(run.out);
  EXPECT_TRUE(contains(lines.front(), "2 layers, 8 tensors")) << lines.front();
  EXPECT_EQ(lines.back(), "lognormal is the closest in 2 of 2 output gradients");
  EXPECT_TRUE(contains(run.out, "s0.fc1.grad_output")) << run.out;
  EXPECT_TRUE(contains(run.out, "made by mantissa")) << run.out;
  for (const std::string& line : lines) EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(TraceCommand, InfoShowsTheRecordedRun) {
  const std::string file =
      write("run", trace_bytes(R"([{"name":"f","kind":"linear"}])", {{"s3.f.grad_output", {1, 2}, {0, 0}}},
                               R"(,"mantissa.run":)" +
                                   quoted(R"({"recipe":"fp8","rows":16,"cols":8,"loss_scale":1024})")));
  const Finished text = run_mantissa({"trace", "info", file});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "recipe fp8, array 16x8, loss scale 1024")) << text.out;
  EXPECT_EQ(lines_of(text.out).back(), "lognormal is the closest in 0 of 1 output gradients");
  const auto json = nlohmann::json::parse(run_mantissa({"trace", "info", file, "--json"}).out);
  EXPECT_EQ(json["run"]["cols"], 8);
  EXPECT_EQ(json["gradients"][0]["closest"], "-");
}

// 4 x 8 tokens of 16: six linear layers of 16 x 16, 16 x 16, 16 x 16, 16 x 16, 64 x 16 and 16 x 64, and
// two products of 8 x 8 x 16 in each sequence.
TEST_F(TraceCommand, InfoBeginsWithTotalsAndCoverage) {
  const std::string file = path("block");
  ASSERT_EQ(run_mantissa({"trace", "synth", "--net", "transformer", "--batch", "4", "--tokens", "8",
                          "--width", "16", "--out", file})
                .exit_code,
            0);
  const double layers = 4 * 8 * (4 * 16 * 16 + 2 * 16 * 64);
  const double all = layers + 4 * 2 * 8 * 8 * 16;
  const Finished text = run_mantissa({"trace", "info", file});
  const std::vector<std::string> lines = lines_of(text.out);
  ASSERT_GT(lines.size(), 6U) << text.err;
  EXPECT_EQ(lines[2], "layers: 6 linear");
  EXPECT_EQ(lines[3], "MACs of all steps: forward 98.3k, input gradient 98.3k, weight gradient 98.3k");
  EXPECT_EQ(lines[4], "coverage: 92.3 % of the model's forward MACs, 106k");
  EXPECT_TRUE(lines[5].starts_with("capture note: the products of queries with keys")) << lines[5];
  const auto info = nlohmann::json::parse(run_mantissa({"trace", "info", file, "--json"}).out);
  EXPECT_EQ(info["macs"]["input_gradient"], layers);
  EXPECT_EQ(info["capture"]["executed_macs"], all);
  EXPECT_EQ(info["capture"]["coverage"], layers / all);
  EXPECT_EQ(info["capture"]["notes"].size(), 1U);
  const auto report = nlohmann::json::parse(run_mantissa({"replay", file, "--json"}).out);
  EXPECT_TRUE(contains(report["notes"][0].get<std::string>(), "92.3 % of the forward multiply-accumulates"))
      << report["notes"];
  EXPECT_TRUE(contains(report["notes"][1].get<std::string>(), "capture: the products of queries"))
      << report["notes"];
}

TEST_F(TraceCommand, CheckListsNumbersThatAreNotFinite) {
  const std::string file = write("nan", trace_bytes(R"([{"name":"f","kind":"linear"}])",
                                                    {{"s0.f.weight", {2, 2}, {1, 2, std::nanf(""), 4}},
                                                     {"s0.f.bias", {2}, {-HUGE_VALF, HUGE_VALF}},
                                                     {"s0.f.input", {1, 2}}}));
  const Finished run = run_mantissa({"trace", "check", file});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(contains(run.out, "s0.f.weight: 1 not finite; the first is element 2, NaN")) << run.out;
  EXPECT_TRUE(contains(run.out, "s0.f.bias: 2 not finite; the first is element 0, -Inf")) << run.out;
  EXPECT_TRUE(contains(run.out, "2 of 3 tensors")) << run.out;
}

TEST_F(TraceCommand, BrokenFilesAreErrorsWithFileAndTensor) {
  const std::string good = contents(synth());
  const std::string cut = write("cut", good.substr(0, good.size() - 1));
  const std::string layers = R"([{"name":"f","kind":"linear"}])";
  const std::string misfit =
      write("misfit", trace_bytes(layers, {{"s0.f.weight", {2, 2}}, {"s0.f.input", {1, 3}}}));
  for (const std::string command : {"check", "info"}) {
    for (const auto& [file, word] : std::vector<std::pair<std::string, std::string>>{
             {cut, "tensor 's0.fc2.grad_output'"},
             {misfit, "tensor 's0.f.input'"},
             {path("none"), "no such file"},
             {write("text", "This is no trace at all."), "no safetensors file"}}) {
      const Finished run = run_mantissa({"trace", command, file});
      EXPECT_EQ(run.exit_code, 2) << run.out;
      EXPECT_EQ(run.out, "");
      EXPECT_TRUE(contains(run.err, file)) << run.err;
      EXPECT_TRUE(contains(run.err, word)) << run.err;
      EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
    }
  }
}

TEST_F(TraceCommand, SynthIsTheSameFromTheSameSeed) {
  const std::string first = contents(synth({"--seed", "4"}));
  EXPECT_TRUE(first == contents(synth({"--seed", "4"})));
  EXPECT_FALSE(first == contents(synth({"--seed", "5"})));
}

TEST_F(TraceCommand, SynthKnowsItsNetworks) {
  const Finished run = run_mantissa({"trace", "synth", "--net", "resnet18", "--image", "32x32", "--dtype",
                                     "F8_E5M2", "--out", path("resnet")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "41 layers with 11689512 parameters")) << run.out;
  EXPECT_EQ(run_mantissa({"trace", "check", path("resnet")}).exit_code, 0);
}

TEST_F(TraceCommand, ImportReadsTopologies) {
  const std::string csv = write("t.csv",
                                "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
                                "Channels, Num Filter, Strides,\nConv1, 12, 12, 3, 3, 3, 8, 1,\n"
                                "Conv2, 10, 10, 3, 3, 8, 4, 2,\n");
  const Finished run = run_mantissa({"trace", "import", csv, "--batch", "2", "--out", path("t")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto info = nlohmann::json::parse(run_mantissa({"trace", "info", path("t"), "--json"}).out);
  EXPECT_EQ(info["layers"].size(), 2U);
  EXPECT_EQ(info["layers"][1]["stride"], nlohmann::json::array({2, 2}));
  EXPECT_EQ(info["tensors"][0]["shape"], nlohmann::json::array({2, 3, 12, 12}));
  EXPECT_EQ(info["tensors"][5]["shape"], nlohmann::json::array({2, 4, 4, 4}));
}

TEST_F(TraceCommand, MistakesLeaveNoFile) {
  const std::string csv = write("bad.csv", "Layer, M, N, K,\nx, 1, 2, 0,\n");
  const std::string huge = write("huge.csv", "Layer, M, N, K,\nx, 16777216, 16777216, 16777216,\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"synth", "--net", "vgg"}, "allowed: resnet18, resnet50, mlp, transformer"},
      {{"synth", "--net", "mlp", "--image", "8x8"}, "--image is an option of resnet18"},
      {{"synth", "--net", "resnet18", "--widths", "3,4"}, "--widths is an option of mlp"},
      {{"synth", "--net", "resnet18", "--tokens", "3"}, "--tokens is an option of transformer"},
      {{"synth", "--net", "resnet18", "--image", "224x"}, "'224x'"},
      {{"synth", "--net", "resnet18", "--image", "4x4"}, "8..2048"},
      {{"synth", "--net", "mlp", "--widths", "3,0"}, "1..65536"},
      {{"synth", "--net", "mlp", "--widths", "3"}, "width"},
      {{"synth", "--net", "mlp", "--batch", "0"}, "1..4096"},
      {{"synth", "--net", "mlp", "--dtype", "I8"}, "F8_E4M3"},
      {{"synth", "--net", "mlp", "--sparsity", "1"}, "sparsity"},
      {{"synth", "--net", "mlp", "--sigma", "nan"}, "sigma"},
      {{"synth"}, "--net"},
      {{"import", csv}, "line 2: K is '0'"},
      {{"import", huge}, "2^44 bytes"},
      {{"import", path("none.csv")}, "none.csv"},
      {{"import", scratch_.path()}, "directory"},
      {{"import", "/dev/zero"}, "cannot read /dev/zero: it is not a regular file"},
  };
  for (const auto& [arguments, word] : mistakes) {
    std::vector<std::string> all{"trace"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--out", path("out")});
    const Finished run = run_mantissa(all);
    EXPECT_EQ(run.exit_code, 2) << word << run.out;
    EXPECT_TRUE(contains(run.err, word)) << "no " << word << " in: " << run.err;
    EXPECT_FALSE(std::filesystem::exists(path("out"))) << word;
  }
  EXPECT_EQ(run_mantissa({"trace", "synth", "--net", "mlp"}).exit_code, 2);
  const Finished full = run_shell("ulimit -f 8; mantissa trace synth --net mlp --out " + path("full"));
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_TRUE(contains(full.err, "cannot write")) << full.err;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path()))
    EXPECT_EQ(entry.path().extension(), ".csv") << entry.path();
}

TEST_F(TraceCommand, MemoryDoesNotGrowWithTheFile) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer needs terabytes of address space itself";
#endif
  // 160 MB of tensors, none larger than 80 MB, in 150 MB of memory that is the program's own.
  const Finished run = run_shell(
      "ulimit -d 150000; mantissa trace synth --net mlp --widths 20000,1000,1000 --batch 1000 "
      "--out " +
      path("large") + " && mantissa trace check " + path("large"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GT(std::filesystem::file_size(path("large")), 160000000U);
}

}  // namespace
}  // namespace mantissa::test

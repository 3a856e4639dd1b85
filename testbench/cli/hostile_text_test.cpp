// Names that would command a terminal, forge a line or break a reader of JSON, in everything that has a name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

// ESC, a C1 control, a mark of direction, an override, one without width, a line separator.
constexpr const char* hostile = "x\x1b[2J\u009B1m\u200E\u202E\u200B\u2028y";

void expect_harmless(const std::string& text, const std::string& what) {
  for (const std::string bad :
       {"\x1b", "\u009B", "\u200E", "\u202E", "\u200B", "\u2028", "\x9b[", "\xff", "\x7f"}) {
    EXPECT_FALSE(contains(text, bad))
        << what << ": " << nlohmann::json(bad).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
}

Finished expect_harmless_run(const std::vector<std::string>& arguments, int exit_code) {
  Finished run = run_mantissa(arguments);
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  expect_harmless(run.out, arguments[0]);
  expect_harmless(run.err, arguments[0]);
  return run;
}

std::string trace_file(const std::string& path, const std::string& origin) {
  std::ofstream(path, std::ios::binary) << trace_bytes(
      R"([{"name":"fc","kind":"linear"}])",
      {{"s0.fc.input", {1, 1}, {1}}, {"s0.fc.weight", {1, 1}, {1}}, {"s0.fc.grad_output", {1, 1}, {1}}},
      ",\"mantissa.origin\":" + nlohmann::json(origin).dump());
  return path;
}

TEST(HostileText, FileNamesAndMetadataOfTraces) {
  const Scratch scratch;
  const std::string file = trace_file(scratch.path() + "/" + hostile + "\xff\x7f", hostile);
  expect_harmless_run({"trace", "check", file}, 0);
  expect_harmless_run({"trace", "info", file}, 0);
  const Finished info = expect_harmless_run({"trace", "info", file, "--json"}, 0);
  EXPECT_EQ(nlohmann::json::parse(info.out)["origin"], hostile);  // escaped, not lost
  expect_harmless_run({"replay", file}, 0);
  EXPECT_TRUE(nlohmann::json::accept(expect_harmless_run({"replay", file, "--json"}, 0).out));
  expect_harmless_run({"replay", file + "not there"}, 2);
}

TEST(HostileText, VectorsToAFileWithAnyName) {
  const Scratch scratch;
  const std::string file = scratch.path() + "/" + hostile + "\xff\n\x7f";
  expect_harmless_run({"vectors", "lfsr", "--count", "1", "--out", file}, 0);
  const Finished json = expect_harmless_run({"vectors", "lfsr", "--count", "1", "--json", "--out", file}, 0);
  EXPECT_TRUE(nlohmann::json::accept(json.out)) << json.out;
  expect_harmless(contents(file + ".svh"), "localparams");
}

TEST(HostileText, NamesOfConfigurations) {
  const Scratch scratch;
  const std::string recipe = scratch.path() + "/recipe.yaml";
  const std::string text = contents(MANTISSA_SOURCE_DIR "/sim/configs/recipes/fp8.yaml");
  const std::size_t name = text.find("name: ");
  ASSERT_NE(name, std::string::npos);
  std::ofstream(recipe) << text.substr(0, name) << R"(name: "x\e[2J\x9B1m\u200E\u202E\u200B\u2028y")"
                        << text.substr(text.find('\n', name));
  const std::string file = trace_file(scratch.path() + "/trace", "");
  expect_harmless_run({"replay", file, "--recipe", recipe}, 0);
  const Finished json = expect_harmless_run({"replay", file, "--recipe", recipe, "--json"}, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out)["recipe"]["name"], hostile);
  expect_harmless_run({"train", "--recipe", recipe, "--net", "mlp", "--images", "128", "--epochs", "1"}, 0);
}

TEST(HostileText, MessagesQuoteEscapedAndCut) {
  const std::string bad = hostile + std::string(100000, 'z') + "\xff";
  const std::vector<std::vector<std::string>> lines{
      {bad},
      {"calc", bad},
      {"calc", "convert", "--" + bad},
      {"calc", "convert", "--", bad},
      {"calc", "convert", "--json=" + bad},
      {"calc", "convert", "--to", bad},
      {"calc", "convert", "--round", bad},
      {"calc", "convert", "--via", bad},
      {"calc", "convert", "--overflow", bad},
      {"calc", "convert", "--scale", bad},
      {"calc", "lfsr", "--seed", bad},
      {"calc", "dot", "--kind", bad},
      {"vectors", bad},
      {"vectors", "lfsr", "--out", bad},
      {"verify", bad},
      {"verify", "lfsr", "--config", bad},
      {"verify", "lfsr", "--set", bad},
      {"replay", bad},
      {"replay", "x", "--engine", bad},
      {"replay", "x", "--recipe", bad},
      {"replay", "x", "--steps", bad},
      {"train", "--net", bad},
      {"cycles", "--gemm", bad},
      {"trace", "info", bad},
      {"trace", "synth", "--out", "x", "--net", bad, "--image", "8"},
      {"trace", "import", bad, "--out", "x"},
      {"compare", bad, bad}};
  for (const std::vector<std::string>& arguments : lines) {
    const Finished run = expect_harmless_run(arguments, 2);
    EXPECT_LT(run.err.size(), 3000U) << run.err.substr(0, 200);
    EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err.substr(0, 200);
  }
}

// Every option of every command refuses an empty value, and no number is octal, hex or not finite.
TEST(HostileText, ValuesOfOptions) {
  const std::vector<std::vector<std::string>> lines{{"calc", "convert", "--to", ""},
                                                    {"calc", "dot", "--inner-acc", ""},
                                                    {"calc", "add", "--a", ""},
                                                    {"vectors", ""},
                                                    {"vectors", "lfsr", "--out", ""},
                                                    {"verify", "lfsr", "--config", ""},
                                                    {"verify", "lfsr", "--dut", ""},
                                                    {"verify", ""},
                                                    {"replay", ""},
                                                    {"replay", "x", "--recipe", ""},
                                                    {"replay", "x", "--steps", ""},
                                                    {"replay", "x", "--out", ""},
                                                    {"replay", "x", "--loss-scale", ""},
                                                    {"replay", "x", "--rtl", ""},
                                                    {"train", "--net", ""},
                                                    {"train", "--out", ""},
                                                    {"train", "--data", ""},
                                                    {"trace", "info", ""},
                                                    {"trace", "synth", "--net", "mlp", "--out", ""},
                                                    {"compare", "", "x"},
                                                    {"cycles", "--gemm", ""},
                                                    {"trace", "import", "", "--out", "x"}};
  for (const std::vector<std::string>& arguments : lines) {
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments[0];
    EXPECT_TRUE(contains(run.err, "empty") || contains(run.err, "''")) << run.err;
    EXPECT_TRUE(contains(run.err, "options are")) << run.err;
  }
  for (const std::string value : {"nan", "inf", "0x1p0", "1e999"}) {
    const Finished run =
        run_mantissa({"trace", "synth", "--net", "mlp", "--out", "/nowhere/x", "--mu", value});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(contains(run.err, "--mu") && contains(run.err, "-60..20")) << run.err;
  }
  // CLI11's own ranges let nan through.
  for (const std::string value : {"nan", "inf", "-1", "0x1", "1e999"}) {
    for (const std::string option : {"--lr", "--weight-decay"}) {
      const Finished run = run_mantissa({"train", "--net", "mlp", option, value});
      EXPECT_EQ(run.exit_code, 2);
      EXPECT_TRUE(contains(run.err, option) && contains(run.err, "is not a decimal number")) << run.err;
    }
    EXPECT_EQ(run_mantissa({"cycles", "--gemm", "8,8,8", "--sparsity", value}).exit_code, 2) << value;
    for (const std::string option : {"--memory", "--work"}) {
      for (const std::string command : {"replay", "trace check"}) {
        const Finished run = run_shell(fmt::format("mantissa {} none {} {}", command, option, value));
        EXPECT_TRUE(contains(run.err, fmt::format("{}: '{}' is not a decimal number", option, value)))
            << run.err;
      }
    }
  }
  EXPECT_TRUE(contains(run_mantissa({"train", "--record", "0x1"}).err, "--record"));
  const Scratch scratch;
  const std::string file = scratch.path() + "/t";
  ASSERT_EQ(run_mantissa({"trace", "synth", "--net", "mlp", "--widths", "010,20", "--out", file}).exit_code,
            0);
  const Finished info = run_mantissa({"trace", "info", file, "--json"});
  EXPECT_EQ(nlohmann::json::parse(info.out)["tensors"][0]["shape"], nlohmann::json({1, 10}));
  EXPECT_TRUE(contains(run_mantissa({"replay", file, "--steps", "010"}).err, "no step 10"));
  EXPECT_TRUE(contains(run_mantissa({"replay", file, "--steps", "0x0"}).err, "--steps"));
}

}  // namespace
}  // namespace mantissa::test

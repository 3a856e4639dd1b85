// The program as a whole: version, help whose examples are true, errors that say what exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/kernels/targets.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

using Arguments = std::vector<std::string>;

const std::vector<Arguments>& every_command() {
  static const std::vector<Arguments> commands{
      {},
      {"calc"},
      {"calc", "convert"},
      {"calc", "mac"},
      {"calc", "dot"},
      {"calc", "add"},
      {"calc", "mul"},
      {"calc", "div"},
      {"calc", "fma"},
      {"calc", "prune"},
      {"calc", "lfsr"},
      {"vectors"},
      {"cycles"},
      {"replay"},
      {"trace"},
      {"trace", "info"},
      {"trace", "check"},
      {"trace", "synth"},
      {"trace", "import"},
      {"bench"},
      {"compare"},
  };
  return commands;
}

TEST(Program, VersionIsTheProjects) {
  const Finished run = run_mantissa({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.out).front(), "mantissa " MANTISSA_VERSION);
}

TEST(Program, VersionTellsWhatItStandsOn) {
  const Scratch scratch;
  const auto lines_with = [&](const std::string& verilator) {
    const std::string tool = scratch.path() + "/verilator";
    if (!verilator.empty()) {
      std::ofstream(tool) << "#!/bin/sh\n" + verilator + "\n";
      std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    }
    const Finished run = run_shell("PATH=" + scratch.path() + " " MANTISSA_PROGRAM " --version");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return lines_of(run.out);
  };
  const std::string systemc = run_shell("pkg-config --modversion systemc").out;
  const std::vector<std::string> lines = lines_with("");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[1], "SIMD target: " + kernels::targets().front());
  EXPECT_EQ(lines[2].rfind("SystemC: " + systemc.substr(0, systemc.find('\n')), 0), 0U) << lines[2];
  EXPECT_EQ(lines[3], "Verilator: not found");
  EXPECT_EQ(lines[4], "data: " MANTISSA_SOURCE_DIR);
  EXPECT_EQ(lines_with("echo Verilator 9.876 2031-02-03").at(3), "Verilator: 9.876 2031-02-03");
  EXPECT_EQ(lines_with("exit 3").at(3), "Verilator: does not work");
}

TEST(Program, EveryCommandHasHelpWithExamples) {
  for (Arguments arguments : every_command()) {
    arguments.emplace_back("--help");
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(run.err.empty()) << run.err;
    EXPECT_NE(run.out.find("Examples:\n"), std::string::npos) << run.out;
  }
}

TEST(Program, ExamplesGiveWhatTheySay) {
  int checked = 0;
  for (Arguments arguments : every_command()) {
    arguments.emplace_back("--help");
    for (const std::string& line : lines_of(run_mantissa(arguments).out)) {
      const std::size_t result = line.find(" # ");
      if (result == std::string::npos || line.find("mantissa calc") == std::string::npos) continue;
      const Finished run = run_shell(line.substr(0, result));
      EXPECT_EQ(run.out, line.substr(result + 3) + "\n") << line;
      ++checked;
    }
  }
  EXPECT_GE(checked, 15);
}

TEST(Program, MistakesAreAnsweredWithWhatExists) {
  struct Mistake {
    Arguments arguments;
    std::vector<std::string> words;
  };
  const std::vector<Mistake> mistakes{
      {{}, {"calc", "vectors", "cycles"}},
      {{"clac"}, {"unknown command 'clac'", "calc", "vectors"}},
      {{"calc"}, {"convert", "mac", "lfsr"}},
      {{"calc", "sub"}, {"unknown command 'sub'", "convert", "mac", "add", "mul", "div", "prune", "lfsr"}},
      {{"calc", "convert", "--form", "fp32"},
       {"unknown option '--form'", "--from", "--to", "--round", "--overflow"}},
      {{"calc", "convert", "--to", "e9m9"},
       {"'e9m9'", "e5m2", "e4m3", "fp16", "bf16", "fp32", "eXmY", ":fnuz"}},
      {{"calc", "convert", "--from", "float"}, {"'float'", "e5m2", "fp32"}},
      {{"calc", "convert", "--round", "up"}, {"'up'", "rne", "rtz", "sr:r"}},
      {{"calc", "convert", "--round", "sr:33"}, {"'sr:33'", "1..32"}},
      {{"calc", "convert", "--overflow", "wrap"}, {"'wrap'", "ieee", "saturate"}},
      {{"calc", "convert", "--flush", "all"}, {"'all'", "none", "input", "output", "both"}},
      {{"calc", "convert", "--via", "bf16"}, {"'bf16'", "none", "fp16"}},
      {{"calc", "convert", "--scale", "128"}, {"128", "-128..127"}},
      {{"calc", "convert", "--scale", "x"}, {"--scale"}},
      {{"calc", "mac", "--a", "fp16"}, {"fp16", "at most 8"}},
      {{"calc", "mac", "--a", "e5m2:bias=200"}, {"not all exact"}},
      {{"calc", "add", "--a", "e1m1"}, {"'e1m1'", "e5m2"}},
      {{"calc", "prune", "--bits", "33"}, {"33", "32"}},
      {{"calc", "lfsr"}, {"--seed"}},
      {{"calc", "lfsr", "--seed", "0"}, {"seed 0"}},
      {{"calc", "lfsr", "--seed", "xyz"}, {"'xyz'", "hex"}},
      {{"calc", "lfsr", "--seed", "123456789"}, {"out of range", "ffffffff"}},
      {{"calc", "lfsr", "--seed", "1", "--leap", "33"}, {"33", "1..32"}},
      {{"calc", "lfsr", "--seed", "1", "--count", "-3"}, {"'-3'", "whole number"}},
      {{"vectors"}, {"UNIT", "--list"}},
      {{"vectors", "fp9_mac", "--out", "x"},
       {"'fp9_mac'", "lfsr", "fp8_mul", "fp8_mac", "fp32_add", "quantizer"}},
      {{"vectors", "fp8_mac"}, {"--out"}},
      {{"vectors", "fp8_mac", "--to", "e5m2", "--out", "x"}, {"--to", "--a", "--acc", "--b", "--round"}},
      {{"vectors", "lfsr", "--count", "0", "--out", "x"}, {"'0'", "1..2147483647"}},
      {{"vectors", "lfsr", "--count", "2147483648", "--out", "x"}, {"'2147483648'", "1..2147483647"}},
      {{"vectors", "lfsr", "--count", "-1", "--out", "x"}, {"'-1'", "1..2147483647"}},
      {{"vectors", "lfsr", "--seed", "0x1", "--out", "x"}, {"'0x1'", "decimal whole number"}},
      {{"vectors", "lfsr", "--leap", "0x1", "--out", "x"}, {"'0x1'", "decimal whole number"}},
      {{"vectors", "lfsr", "--leap", "33", "--out", "x"}, {"33", "1..32"}},
      {{"trace"}, {"info", "check", "synth", "import"}},
      {{"trace", "show"}, {"unknown command 'show'", "info", "check", "synth", "import"}},
      {{"--foo"}, {"unknown option '--foo'", "calc", "vectors", "--help", "--version"}},
      {{"cycles"}, {"--gemm"}},
      {{"cycles", "--gemm", "1,2"}, {"--gemm '1,2'", "M,N,K", "256,256,256"}},
      {{"cycles", "--gemm", "1,2,3,4"}, {"--gemm '1,2,3,4'", "M,N,K"}},
      {{"cycles", "--gemm", "0,2,3"}, {"--gemm '0,2,3'", "at least 1"}},
      {{"cycles", "--gemm", "1,-2,3"}, {"--gemm '1,-2,3'", "at least 1"}},
      {{"cycles", "--gemm", "1,2,3,"}, {"--gemm '1,2,3,'", "M,N,K"}},
      {{"cycles", "--gemm", "1,2,2147483649"}, {"K 2147483649", "1..2147483648"}},
      {{"cycles", "--gemm", "1,2,99999999999999999999"}, {"--gemm '1,2,99999999999999999999'"}},
      {{"cycles", "--gemm", "1000000,1000000,1000000"}, {"2^48"}},
      {{"cycles", "--gemm", "1000000,1000000,100", "--array", "1x1"}, {"steps", "larger"}},
      {{"cycles", "--gemm", "8,8,8", "--array", "4"}, {"--array '4'", "16x16"}},
      {{"cycles", "--gemm", "8,8,8", "--array", "4x"}, {"--array '4x'", "16x16"}},
      {{"cycles", "--gemm", "8,8,8", "--array", "4x0"}, {"--array '4x0'", "16x16"}},
      {{"cycles", "--gemm", "8,8,8", "--array", "4x4x4"}, {"--array '4x4x4'", "16x16"}},
      {{"cycles", "--gemm", "8,8,8", "--array", "4x5000"}, {"--array '4x5000'", "4096"}},
      {{"cycles", "--gemm", "8,8,8", "--dataflow", "ws"},
       {"'ws'", "os-skip", "scalesim-ws", "scalesim-is", "scalesim-os", "stonne-os"}},
      {{"cycles", "--gemm", "8,8,8", "--dataflow", "stonne-os", "--depth", "2"},
       {"--depth", "os-skip", "stonne-os"}},
      {{"cycles", "--gemm", "8,8,8", "--sparsity", "1.5"}, {"'1.5'", "0..1"}},
      {{"cycles", "--gemm", "8,8,8", "--sparsity", "nan"}, {"'nan'", "0..1"}},
      {{"cycles", "--gemm", "100000,8,100000", "--sparsity", "0.5"}, {"2^28"}},
      {{"cycles", "--gemm", "8,8,8", "--port", "0"}, {"'0'", "1..65535"}},
      {{"cycles", "--gemm", "8,8,8", "--burst-cycles", "0"}, {"'0'", "1..4096"}},
      {{"cycles", "--gemm", "8,8,800", "--a-buffer", "100"}, {"a_buffer 100", "window"}},
      {{"bench", "--size", "8"}, {"'8'", "16..8192"}},
      {{"bench", "--size", "0x20"}, {"'0x20'", "decimal whole number"}},
      {{"bench", "--elements", "0"}, {"'0'", "16..268435456"}},
      {{"bench", "--elements", "24"}, {"multiple of 16"}},
      {{"bench", "--batch", "0"}, {"'0'", "1..1024"}},
      {{"bench", "--image", "4"}, {"'4'", "8..1024"}},
      {{"bench", "--repeat", "1.5"}, {"'1.5'", "1..1000"}},
      {{"bench", "--seed", "-1"}, {"'-1'", "decimal whole number"}},
  };
  for (const Mistake& mistake : mistakes) {
    const Finished run = run_mantissa(mistake.arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "") << run.err;
    EXPECT_EQ(run.err.rfind("mantissa: error: ", 0), 0U) << run.err;
    EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
    for (const std::string& word : mistake.words) {
      EXPECT_NE(run.err.find(word), std::string::npos) << "no " << word << " in: " << run.err;
    }
  }
}

TEST(Program, BenchReportsEveryRowAsJson) {
  const Finished run = run_mantissa({"bench", "--size", "32", "--elements", "4096", "--batch", "1", "--image",
                                     "32", "--repeat", "1", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_FALSE(report["openblas_core"].get<std::string>().empty());
  ASSERT_GT(report["rows"].size(), 5U);
  for (const auto& row : report["rows"]) {
    EXPECT_FALSE(row.at("name").get<std::string>().empty());
    EXPECT_FALSE(row.at("peer").get<std::string>().empty()) << row;
    EXPECT_GT(row.at("rate").get<double>(), 0.0) << row;
    EXPECT_NEAR(row.at("ratio").get<double>() * row.at("peer_rate").get<double>(),
                row.at("rate").get<double>(), 1e-9 * row.at("rate").get<double>())
        << row;
  }
}

TEST(Program, BenchReadsDecimalNumbers) {
  const Finished run = run_mantissa({"bench", "--size", "016", "--elements", "0032", "--batch", "002",
                                     "--image", "032", "--repeat", "01", "--seed", "010", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["size"], 16);
  EXPECT_EQ(report["elements"], 32);
  EXPECT_EQ(report["batch"], 2);
  EXPECT_EQ(report["repeat"], 1);
  EXPECT_EQ(report["seed"], 10);
}

TEST(Program, ReaderThatLeavesIsNoError) {
  const Finished run =
      run_shell("set -o pipefail; mantissa calc lfsr --seed 1 --count 100000000 | head -n 1");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(lines_of(run.out).size(), 1U);
}

TEST(Program, FullDiskIsAnError) {
  const std::string small_bench = "bench --size 16 --elements 16 --batch 1 --repeat 1";
  for (const std::string& command :
       {std::string("calc lfsr --seed 1"), std::string("--help"), std::string("--version"),
        std::string("vectors --help"), std::string("vectors --list"), std::string("cycles --gemm 8,8,8"),
        small_bench, small_bench + " --json"}) {
    const Finished run = run_shell("mantissa " + command + " > /dev/full");
    EXPECT_EQ(run.exit_code, 2) << command;
    EXPECT_NE(run.err.find("cannot write standard output"), std::string::npos) << command << run.err;
  }
}

}  // namespace
}  // namespace mantissa::test

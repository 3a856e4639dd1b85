// `mantissa cycles`: SCALE-Sim's own figures, the speed-ups of ARITHMETIC.md 7, and what JSON and text say.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

Json cycles_json(std::vector<std::string> options) {
  options.insert(options.begin(), "cycles");
  options.emplace_back("--json");
  const Finished run = run_mantissa(options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return Json::parse(run.out);
}

TEST(Cycles, FoldsAsScaleSimPrintsThem) {
  std::ifstream file(MANTISSA_TEST_DATA "/scalesim_cycles.csv");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "workload,dataflow,array_rows,array_cols,M,N,K,scalesim_total_cycles,overall_util_pct");
  int rows = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cell;
    std::istringstream cells(line);
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    ASSERT_EQ(cell.size(), 9U) << line;
    const Json json = cycles_json({"--dataflow", "scalesim-" + cell[1], "--array", cell[2] + "x" + cell[3],
                                   "--gemm", cell[4] + "," + cell[5] + "," + cell[6]});
    EXPECT_EQ(json.at("scalesim_reported_cycles"), std::stoull(cell[7])) << line;
    EXPECT_EQ(json.at("cycles"), std::stoull(cell[7]) + 1) << line;
    const auto cycles = json.at("cycles").get<double>();
    const double utilization = json.at("utilization");
    EXPECT_DOUBLE_EQ(utilization, std::stod(cell[4]) * std::stod(cell[5]) * std::stod(cell[6]) /
                                      (std::stod(cell[2]) * std::stod(cell[3]) * cycles));
    // SCALE-Sim's own is of the cycles that it prints, with four decimals.
    EXPECT_NEAR(100 * utilization * cycles / (cycles - 1), std::stod(cell[8]), 0.00005001) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 33);
}

TEST(Cycles, OfStonne) {
  const Json json = cycles_json({"--dataflow", "stonne-os", "--array", "32x32", "--gemm", "256,256,256"});
  EXPECT_EQ(json.at("cycles"), 20672);
  EXPECT_EQ(json.at("folds"), 64);
  EXPECT_FALSE(json.contains("scalesim_reported_cycles"));
  EXPECT_DOUBLE_EQ(json.at("utilization"), 256.0 * 256 * 256 / (32 * 32 * 20672.0));
}

TEST(Cycles, OfTheArrayWithMemory) {
  // The worked example's machine, without zeros.
  const std::vector<std::string> machine = {
      "--array",        "2x2", "--gemm",         "4,3,8", "--window",       "4",  "--depth",    "2",
      "--port",         "2",   "--pipe-latency", "2",     "--a-buffer",     "64", "--b-buffer", "64",
      "--dram-latency", "6",   "--burst-bytes",  "4",     "--burst-cycles", "1"};
  const Json json = cycles_json(machine);
  EXPECT_EQ(json.at("cycles"), 86);
  EXPECT_EQ(json.at("compute"), 40);
  EXPECT_EQ(json["stalls"]["load"].get<int>() + json["stalls"]["write_back"].get<int>() +
                json["stalls"]["drain"].get<int>(),
            46);
  EXPECT_EQ(json.at("folds"), 4);
  EXPECT_EQ(json.at("dram_bytes"), 68);
  EXPECT_EQ(json.at("sram_bytes"), 68 + 64 + 48 + 12);
  EXPECT_EQ(json.at("macs"), 96);
  EXPECT_DOUBLE_EQ(json.at("utilization"), 96 / (4 * 86.0));

  std::vector<std::string> alone = machine;
  alone.emplace_back("--no-memory");
  const Json array_only = cycles_json(alone);
  EXPECT_EQ(array_only.at("cycles"), 40);
  EXPECT_EQ(array_only.at("dram_bytes"), 0);

  std::vector<std::string> sparse = machine;
  sparse.insert(sparse.end(), {"--sparsity", "1"});
  const Json empty = cycles_json(sparse);
  EXPECT_EQ(empty.at("macs"), 0);
  EXPECT_EQ(empty.at("skipped_macs"), 96);
  sparse.emplace_back("--no-skip");
  EXPECT_EQ(cycles_json(sparse).at("cycles"), 86);
}

// The speed-up of one tile has a standard deviation of up to 0.01 (seen over 1000 tiles); 256 tiles have a
// sixteenth of it. The figures are rounded, by up to 0.005. So these tiles must come within 0.005 + 4 *
// 0.000625.
TEST(Cycles, TrainingSpeedUpAt85PercentZeros) {
  const Json json = cycles_json({"--gemm", "4096,16,3200", "--sparsity", "0.85", "--no-memory", "--speedup"});
  EXPECT_NEAR(json.at("speedup_bound").get<double>(), 3 / 1.3, 1e-12);
  const std::vector<std::vector<double>> expected = {
      {1.57, 1.88, 2.00}, {1.67, 2.02, 2.19}, {1.74, 2.07, 2.20}};
  ASSERT_EQ(json.at("speedup").size(), 12U);
  for (std::size_t port = 0; port < 4; ++port) {
    for (std::size_t depth = 0; depth < 3; ++depth) {
      const Json& point = json["speedup"][3 * port + depth];
      EXPECT_EQ(point.at("port"), 2 << port);
      EXPECT_EQ(point.at("depth"), 1 << depth);
      EXPECT_LE(point.at("speedup").get<double>(), 3 / 1.3);
      if (port == 0) continue;  // no figure
      EXPECT_NEAR(point.at("speedup").get<double>(), expected[port - 1][depth], 0.0075) << point;
    }
  }
  const Finished text =
      run_mantissa({"cycles", "--gemm", "16,16,3200", "--sparsity", "0.85", "--no-memory", "--speedup"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("bound 3/(1+2(1-S)) = 2.31\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("Port 16 "), std::string::npos) << text.out;
}

TEST(Cycles, WithoutZerosThereIsNoSpeedUp) {
  for (const Json& point : cycles_json({"--gemm", "8,8,64", "--speedup"}).at("speedup")) {
    EXPECT_EQ(point.at("speedup"), 1.0);
  }
}

TEST(Cycles, SameSeedSameZeros) {
  const std::vector<std::string> options = {"--gemm", "64,64,640", "--sparsity", "0.5", "--seed"};
  const auto with_seed = [&](const std::string& seed) {
    std::vector<std::string> all = options;
    all.push_back(seed);
    return cycles_json(all).at("macs").get<std::uint64_t>();
  };
  EXPECT_EQ(with_seed("7"), with_seed("7"));
  EXPECT_NE(with_seed("7"), with_seed("8"));
}

TEST(Cycles, TextHasTheSameFigures) {
  const Finished run =
      run_mantissa({"cycles", "--dataflow", "scalesim-os", "--array", "32x32", "--gemm", "256,256,256"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out,
            "cycles                           20352  utilization 80.5 %\n"
            "folds                               64\n"
            "SCALE-Sim prints                 20351\n");
}

// A pointwise layer by hand: 16 pixels, 16 channels to 16, on 16 x 16 with everything in the buffers.
TEST(Cycles, PassesOfAConvolution) {
  const Json json =
      cycles_json({"--conv", "1,16,4,4,16,1,1,0", "--set", "mapping=auto", "--sparsity", "0.9"});
  const Json& passes = json.at("passes");
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_EQ(passes[0].at("M"), 16);
  EXPECT_EQ(passes[0].at("tensor_bytes"), 3 * 256);
  EXPECT_EQ(passes[0].at("dram_bytes"), 3 * 256);
  EXPECT_EQ(passes[0].at("compute"), 4 + 16);  // staging, then a window of 16
  EXPECT_EQ(passes[2].at("tensor_bytes"), 2 * 256 + 1024);
  EXPECT_GT(passes[2].at("skipped_macs"), 3000);
  const Json strided = cycles_json({"--conv", "1,16,8,8,16,3,2,1", "--set", "mapping=auto"}).at("passes")[1];
  // Of nine taps a quarter of the outputs meets 1, a half 2 and a quarter 4.
  EXPECT_EQ(strided.at("macs"), 16 * (1 + 2 + 2 + 4) * 16 * 16);
  const Finished text = run_mantissa({"cycles", "--conv", "4,64,56,56,64,3,1,1", "--set", "mapping=auto"});
  EXPECT_NE(text.out.find("weight_gradient: "), std::string::npos) << text.out << text.err;
  // The first machine runs group by group.
  const Finished grouped = run_mantissa(
      {"cycles", "--conv", "1,32,8,8,32,3,1,1", "--groups", "32", "--set", "mapping=simple", "--json"});
  ASSERT_EQ(grouped.exit_code, 0) << grouped.err;
  EXPECT_EQ(nlohmann::json::parse(grouped.out)["passes"][0]["tensor_bytes"], 2 * 32 * 8 * 8 + 32 * 9);
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } bad[] = {
      {{"cycles"}, "--gemm or --conv"},
      {{"cycles", "--conv", "1,2,3"}, "N,C,H,W,O,k,s,p"},
      {{"cycles", "--conv", "1,16,4,4,16,9,1,0"}, "kernel"},
      {{"cycles", "--conv", "1,16,4,4,16,1,0,0"}, "stride"},
      {{"cycles", "--gemm", "8,8,8", "--set", "rows=4"}, "--conv"},
      {{"cycles", "--conv", "1,16,4,4,16,1,1,0", "--set", "pruning.sparsity=0.5"}, "keys of an architecture"},
      {{"cycles", "--conv", "1,16,4,4,16,1,1,0", "--set", "mapping=auto", "--set", "c_buffer=64B"},
       "c_buffer 64B is too small: a block of 16 x 16 sums of 32 bits takes 1024 bytes; at least 1KiB would "
       "do"}};
  for (const auto& [arguments, message] : bad) {
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2) << message;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace mantissa::test

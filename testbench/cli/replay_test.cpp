// `mantissa replay` as a user runs it: the shipped trace, every recipe, equal bytes for any number of
// threads, engines that agree, and bad input that leaves nothing behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/support/quantity.hpp"
#include "testbench/cli/replay_run.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

TEST(Replay, EveryShippedRecipeRuns) {
  for (const char* recipe :
       {"fp32", "fp8", "fp8-hybrid", "int8-rangebn", "lognormal-sparse", "dense", "dgc", "zipml"}) {
    const Json report = replay({cnn, "--recipe", recipe});
    ASSERT_TRUE(report.contains("layers")) << recipe;
    for (const Json& layer : report["layers"]) {
      if (layer["kind"] == "batchnorm") continue;
      const auto product = layer["M"].get<std::uint64_t>() * layer["N"].get<std::uint64_t>() *
                           layer["K"].get<std::uint64_t>() * layer["groups"].get<std::uint64_t>();
      const auto scheduled = layer["macs"].get<std::uint64_t>() + layer["skipped_macs"].get<std::uint64_t>();
      // A strided input gradient has holes, which are not scheduled.
      EXPECT_LE(scheduled, product);
      if (layer["pass"] != "input_gradient") {
        EXPECT_EQ(scheduled, product);
      }
      EXPECT_LE(layer["utilization"].get<double>(), 1);
      // Eight bits keep the direction of every result of a real training step; pruning 85 % of a gradient
      // adds noise on purpose.
      if (std::string(recipe) == "lognormal-sparse" && layer["pass"] != "forward") continue;
      EXPECT_GT(layer["cosine"].get<double>(), 0.98) << recipe << " " << layer["layer"] << layer["pass"];
    }
  }
}

TEST(Replay, ReportIsTheSameForAnyNumberOfThreads) {
  const std::vector<std::string> base = {"replay",           cnn,         "--recipe",
                                         "lognormal-sparse", "--staging", "--json"};
  const std::string once = run_mantissa(base).out;
  ASSERT_FALSE(once.empty());
  for (const char* threads : {"1", "2", "5"}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {"--threads", threads});
    EXPECT_EQ(run_mantissa(arguments).out, once) << threads;
  }
}

TEST(Replay, InputsAreNamedByWhatSha256sumPrints) {
  const Json report = replay({cnn});
  const std::string configs = MANTISSA_SOURCE_DIR "/sim/configs/";
  for (const auto& [input, path] : std::map<std::string, std::string>{
           {"trace", cnn}, {"recipe", configs + "recipes/fp8.yaml"}, {"arch", configs + "arch/edge.yaml"}}) {
    const std::string hash = report.at(input).at("hash");
    EXPECT_EQ(run_shell("sha256sum < '" + path + "'").out, hash + "  -\n") << input;
  }
}

TEST(Replay, SeedMovesOnlyStochasticRoundings) {
  const Json one = replay({cnn, "--seed", "1"});
  const Json two = replay({cnn, "--seed", "2"});
  bool gradients_differ = false;
  for (std::size_t i = 0; i < one["layers"].size(); ++i) {
    const Json& a = one["layers"][i];
    const Json& b = two["layers"][i];
    if (a["pass"] == "forward") {
      EXPECT_EQ(a["sqnr_db"], b["sqnr_db"]);
    } else {
      gradients_differ = gradients_differ || a["sqnr_db"] != b["sqnr_db"];
    }
  }
  EXPECT_TRUE(gradients_differ);
}

TEST(Replay, SkippingChangesNoResult) {
  const Scratch scratch;
  const std::string sizes = "rows: 8\ncols: 8\nwindow: 16\ndepth: 2\nport: 4\n";
  const std::string with = written(scratch, "skip.yaml", "name: m\n" + sizes + "skip_forward: true\n");
  const std::string without = written(scratch, "dense.yaml", "name: m\n" + sizes + "skip_gradients: false\n");
  for (const char* recipe : {"fp8", "fp8-hybrid", "lognormal-sparse"}) {
    const Json a = replay({cnn, "--recipe", recipe, "--arch", with});
    const Json b = replay({cnn, "--recipe", recipe, "--arch", without});
    std::uint64_t skipped = 0;
    for (std::size_t i = 0; i < a["layers"].size(); ++i) {
      for (const char* figure : {"sqnr_db", "cosine", "max_ulp", "overflow", "underflow"})
        EXPECT_EQ(a["layers"][i][figure], b["layers"][i][figure]) << recipe << " " << figure;
      skipped += a["layers"][i]["skipped_macs"].get<std::uint64_t>();
      EXPECT_EQ(b["layers"][i]["skipped_macs"], 0);
      EXPECT_EQ(a["layers"][i]["dense_cycles"], b["layers"][i]["cycles"]);
    }
    EXPECT_GT(skipped, 0U);
  }
}

TEST(Replay, LossScaleLiftsGradientsOutOfUnderflow) {
  const auto flushed = [](const Json& report) {
    std::uint64_t sum = 0;
    for (const Json& tensor : report["tensors"]) {
      if (tensor["class"] == "errors") sum += tensor["flushed_to_zero"].get<std::uint64_t>();
    }
    return sum;
  };
  const std::uint64_t without = flushed(replay({cnn, "--loss-scale", "none"}));
  const std::uint64_t with = flushed(replay({cnn, "--loss-scale", "13"}));
  EXPECT_LT(with, without / 4);
}

// The shipped sparse recipe with another line in place of its pruning.
std::string sparse_recipe(const Scratch& scratch, const std::string& pruning) {
  std::ifstream shipped(MANTISSA_SOURCE_DIR "/sim/configs/recipes/lognormal-sparse.yaml");
  std::string text;
  for (std::string line; std::getline(shipped, line);)
    text += (line.starts_with("pruning:") ? "pruning: " + pruning : line) + "\n";
  return written(scratch, "sparse.yaml", text);
}

TEST(Replay, AThresholdOfTheMagnitudesGivesItsShareOfZeros) {
  const Scratch scratch;
  const std::string recipe = sparse_recipe(scratch, "{sparsity: 0.7, threshold: quantile}");
  const Json report = replay({cnn, "--recipe", recipe});
  int pruned = 0;
  for (const Json& tensor : report["tensors"]) {
    if (tensor["class"] != "errors" || tensor["format"] == "fp32" || tensor["elements"] < 2000) continue;
    const auto found = std::find_if(
        report["gradients"].begin(), report["gradients"].end(),
        [&](const Json& g) { return g["layer"] == tensor["layer"] && g["step"] == tensor["step"]; });
    if (found == report["gradients"].end()) continue;  // of a batch norm
    // Where more is zero already, nothing is pruned.
    const double expected = std::max(0.7, (*found)["zero_share"].get<double>());
    EXPECT_NEAR(tensor["zero_share"].get<double>(), expected, 0.03)
        << tensor["layer"] << " " << tensor["step"];
    ++pruned;
  }
  EXPECT_GT(pruned, 8);
}

TEST(Replay, NoThresholdLiesBeyondTheLargestGradient) {
  for (const std::string& trace : {cnn, traces + "fashion-transformer.safetensors"}) {
    const Json report = replay({trace, "--recipe", "lognormal-sparse"});
    EXPECT_GT(report["gradients"].size(), 5U);
    for (const Json& gradient : report["gradients"]) {
      const double top = gradient["histogram_first_log2"].get<double>() +
                         gradient["histogram_width_log2"].get<double>() *
                             static_cast<double>(gradient["histogram_share"].size());
      EXPECT_LE(gradient["tau"].get<double>(), std::exp2(top)) << gradient["layer"] << gradient["step"];
    }
  }
}

TEST(Replay, ThePrunersRandomBitsArePriced) {
  const Scratch scratch;
  const std::string recipe = sparse_recipe(scratch, "{sparsity: 0.7, random_bits: 8}");
  std::set<std::string> actions;
  const Json report = replay({cnn, "--recipe", recipe});
  for (const Json& price : report["tables"][0]["prices"]) actions.insert(price["action"].get<std::string>());
  EXPECT_EQ(actions.count("prune 8"), 1U);
  EXPECT_EQ(actions.count("prune 16"), 0U);
}

TEST(Replay, OneStepOfSeveral) {
  const Json all = replay({cnn});
  const std::uint64_t last = all["layers"].back()["step"];
  const Json one = replay({cnn, "--steps", std::to_string(last)});
  for (const Json& layer : one["layers"]) EXPECT_EQ(layer["step"], last);
  EXPECT_LT(one["layers"].size(), all["layers"].size());
  EXPECT_EQ(run_mantissa({"replay", cnn, "--steps", "12345"}).exit_code, 2);
}

TEST(Replay, OtherDataflowsHaveTheirOwnCycles) {
  const Scratch scratch;
  for (const char* dataflow : {"scalesim-ws", "scalesim-is", "scalesim-os", "stonne-os"}) {
    const std::string arch = written(scratch, "a.yaml", std::string("name: a\ndataflow: ") + dataflow + "\n");
    const Json report = replay({cnn, "--arch", arch});
    for (const Json& layer : report["layers"]) {
      if (layer["kind"] == "batchnorm") continue;
      EXPECT_EQ(layer["skipped_macs"], 0);
      const Finished cycles =
          run_mantissa({"cycles", "--dataflow", dataflow, "--array", "16x16", "--gemm",
                        std::to_string(layer["M"].get<int>()) + "," + std::to_string(layer["N"].get<int>()) +
                            "," + std::to_string(layer["K"].get<int>()),
                        "--json"});
      EXPECT_EQ(Json::parse(cycles.out)["cycles"], layer["cycles"]) << dataflow;
    }
  }
}

// The engines compare every bit and cycle with the fast one; what they found would be exit code 1.
TEST(Replay, EnginesThatSimulateCyclesHaveIntegersAndRangeNorms) {
  const Scratch scratch;
  // Layers of up to 32 channels: of 11 groups 4 are sampled, the last one is partial.
  const std::string arch = written(scratch, "small.yaml", "name: small\nrows: 4\ncols: 4\nnorm_lanes: 3\n");
  for (const char* mapping : {"mapping=simple", "mapping=auto"}) {
    const std::vector<std::string> base = {cnn, "--recipe", "int8-rangebn", "--arch", arch, "--set", mapping};
    const Json fast = replay(base);
    for (const char* engine : {"systemc", "rtl", "lockstep"}) {
      std::vector<std::string> arguments = base;
      arguments.insert(arguments.end(), {"--engine", engine, "--sample", "4"});
      const Json report = replay(arguments);
      ASSERT_TRUE(report.contains("layers")) << mapping << engine;
      EXPECT_EQ(report["layers"], fast["layers"]) << mapping << engine;
      EXPECT_GT(report["sampled_tiles"].get<int>(), 0) << mapping << engine;
    }
  }
}

// Every pass of both networks in one job, and single tiles: bits, cycles, stalls and bytes are those of the
// closed form.
TEST(Replay, TheSecondMachineAgreesWithItsClosedForm) {
  for (const char* recipe : {"fp8", "lognormal-sparse", "int8-rangebn"}) {
    const std::vector<std::string> base = {cnn, "--recipe", recipe, "--set", "mapping=auto"};
    const Json fast = replay(base);
    for (const char* sample : {"0", "4"}) {
      std::vector<std::string> arguments = base;
      arguments.insert(arguments.end(), {"--engine", "systemc", "--sample", sample});
      const Json report = replay(arguments);
      ASSERT_TRUE(report.contains("layers")) << recipe;
      EXPECT_EQ(report["layers"], fast["layers"]) << recipe;
      EXPECT_GT(report["sampled_tiles"].get<int>(), 0) << recipe;
    }
  }
}

// The same with gradients that lie packed in memory, and pass through zero_unpacker on their way to buffer A.
TEST(Replay, TheSecondMachineUnpacksGradients) {
  const std::vector<std::string> base = {
      cnn, "--recipe", "lognormal-sparse", "--set", "mapping=auto", "--set", "gradient_storage=packed"};
  const auto with = [&base](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return replay(arguments);
  };
  const Json whole = with({"--engine", "systemc"});
  ASSERT_TRUE(whole.contains("layers"));
  EXPECT_EQ(whole["layers"], with({})["layers"]);
  const std::vector<std::string> small = {"--set", "rows=4", "--set", "cols=4"};
  const Json fast = with(small);
  for (const char* engine : {"rtl", "lockstep"}) {
    std::vector<std::string> arguments = small;
    arguments.insert(arguments.end(), {"--engine", engine, "--sample", "4"});
    const Json report = with(arguments);
    ASSERT_TRUE(report.contains("layers")) << engine;
    EXPECT_EQ(report["layers"], fast["layers"]) << engine;
    EXPECT_GT(report["sampled_tiles"].get<int>(), 0) << engine;
  }
}

// All of it, nothing sampled.
TEST(LongReplay, EnginesRunEveryTileAndGroup) {
  const Scratch scratch;
  const std::string arch = written(scratch, "small.yaml", "name: small\nrows: 4\ncols: 4\n");
  const std::vector<std::string> base = {cnn, "--recipe", "int8-rangebn", "--arch", arch, "--steps", "20"};
  const Json fast = replay(base);
  for (const char* engine : {"systemc", "lockstep"}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {"--engine", engine});
    const Json report = replay(arguments);
    ASSERT_TRUE(report.contains("layers")) << engine;
    EXPECT_EQ(report["layers"], fast["layers"]) << engine;
    std::uint64_t tiles = 0;
    for (const Json& layer : fast["layers"]) {
      if (layer["kind"] == "batchnorm") {
        tiles += (layer["channels"].get<std::uint64_t>() + 15) / 16;
      } else {
        tiles += (layer["M"].get<std::uint64_t>() + 3) / 4 * ((layer["N"].get<std::uint64_t>() + 3) / 4);
      }
    }
    EXPECT_EQ(report["sampled_tiles"], tiles) << engine;
  }
}

// The shipped trace with a fault in the unit that finds the ranges: ties make it show.
TEST(Replay, AFaultInANormUnitStopsTheRun) {
  const FaultyRtl rtl("running_extremes.sv", "if (above | start_i)",
                      "if (above | (high_i == x_i) | start_i)");
  const Scratch scratch;
  const std::string arch = written(scratch, "small.yaml", "name: small\nrows: 4\ncols: 4\n");
  std::string command = "mantissa replay " + cnn;
  command.append(" --recipe int8-rangebn --sample 4 --arch ").append(arch);
  command.append(" --rtl ").append(rtl.directory()).append(" --engine $ENGINE; echo exit code $?; ls");
  for (const auto& [engine, message] :
       {std::pair("lockstep", "MISMATCH between SystemC and RTL in range_bn_forward, lane "),
        std::pair("rtl", "MISMATCH between engine rtl and the golden model, step 20, layer ")}) {
    const Finished run = run_in_scratch(std::string("ENGINE=").append(engine).append("; ").append(command));
    EXPECT_EQ(run.out.find(message), 0U) << run.out;
    EXPECT_NE(run.out.find("  again: "), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("\nexit code 1\n"), std::string::npos) << run.out;
    const bool waves = run.out.find("\nreplay_seed1.fst\n") != std::string::npos;
    EXPECT_EQ(waves, std::string(engine) == "lockstep") << run.out;
  }
}

// The shipped fp8 recipe with one line changed.
std::string changed_fp8(const Scratch& scratch, const std::string& key, const std::string& line) {
  std::string text = contents(MANTISSA_SOURCE_DIR "/sim/configs/recipes/fp8.yaml");
  const std::size_t begin = text.find("\n" + key + ":") + 1;
  text.replace(begin, text.find('\n', begin) - begin, line);
  return written(scratch, "recipe.yaml", text);
}

TEST(Replay, GradientsMayStayWideOrHaveTheirOwnCopy) {
  const Scratch scratch;
  const std::string arch = written(scratch, "small.yaml", "name: small\nrows: 4\ncols: 4\n");
  for (const auto& [key, line] :
       {std::pair("weight_gradients", "weight_gradients: {format: fp32}"),
        std::pair("errors", "errors: {format: e5m2, rounding: rne}\nerrors_for_weights: {format: e4m3}")}) {
    const std::string recipe = changed_fp8(scratch, key, line);
    const Json fast = replay({cnn, "--recipe", recipe, "--arch", arch});
    const Json simulated =
        replay({cnn, "--recipe", recipe, "--arch", arch, "--engine", "systemc", "--sample", "4"});
    EXPECT_EQ(fast["layers"], simulated["layers"]) << line;
  }
}

// What norms read and write: codes with a stochastic quantizer behind them, integers of 16 bits, and the
// 8-bit mode in a recipe of codes.
TEST(Replay, RangeNormsInEveryKindOfMemory) {
  const Scratch scratch;
  const std::string arch = written(scratch, "small.yaml", "name: small\nrows: 4\ncols: 4\nnorm_lanes: 5\n");
  std::string wide = contents(MANTISSA_SOURCE_DIR "/sim/configs/recipes/int8-rangebn.yaml");
  for (const auto& [from, to] : {std::pair("activations: {bits: 8", "activations: {bits: 16"),
                                 std::pair("{bits: 16, rounding: rne}", "{bits: 8}"),
                                 std::pair("precision: int8", "precision: fp32")}) {
    const std::size_t at = wide.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    wide.replace(at, std::string(from).size(), to);
  }
  const auto expect_same = [&](const std::string& recipe) {
    const std::vector<std::string> base = {cnn, "--recipe", recipe, "--arch", arch, "--steps", "20"};
    std::vector<std::string> simulated = base;
    simulated.insert(simulated.end(), {"--engine", "systemc", "--sample", "4"});
    const Json report = replay(simulated);
    ASSERT_TRUE(report.contains("layers"));
    EXPECT_EQ(report["layers"], replay(base)["layers"]) << contents(recipe);
  };
  expect_same(written(scratch, "wide.yaml", wide));
  for (const char* norm :
       {"norm: {kind: range, chunks: 4, constant: reference}", "norm: {kind: range, precision: int8}"}) {
    expect_same(changed_fp8(scratch, "norm", norm));
  }
}

TEST(Replay, AShippedTableIsShownBesideAnotherOfItsName) {
  const Scratch scratch;
  const std::string shipped = contents(MANTISSA_SOURCE_DIR "/sim/configs/energy/horowitz45.yaml");
  written(scratch, "mine.yaml", "# My own.\n" + shipped);
  written(scratch, "same.yaml", shipped);
  const auto tables = [&](const std::string& energy) {
    const std::string arch = written(scratch, "arch.yaml", "name: a\nenergy: " + energy + "\n");
    const Json report = replay({cnn, "--steps", "20", "--arch", arch});
    std::vector<std::string> names;
    for (const Json& table : report["tables"]) names.push_back(table["name"]);
    return names;
  };
  EXPECT_EQ(tables("mine.yaml"),
            (std::vector<std::string>{"horowitz45", "aladdin40", "horowitz45 (shipped)"}));
  EXPECT_EQ(tables("same.yaml"), (std::vector<std::string>{"horowitz45", "aladdin40"}));
  EXPECT_EQ(tables("aladdin40"), (std::vector<std::string>{"aladdin40", "horowitz45"}));
}

// 512 bytes are two halves of 16 x 16 bytes: enough for operands of 8 bits, not for 16.
TEST(Replay, BuffersTooSmallForALayerAreRefusedBeforeAnyRuns) {
  const Scratch scratch;
  const std::string arch = written(scratch, "small.yaml", "name: s\na_buffer: 512B\n");
  EXPECT_EQ(run_mantissa({"replay", cnn, "--arch", arch, "--recipe", "fp8-hybrid", "--json"}).exit_code, 0);
  const Finished run = run_mantissa({"replay", cnn, "--arch", arch, "--recipe", "int8-rangebn"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;  // no progress either
  for (const char* part :
       {"a_buffer 512B is too small; the smallest that works is 1KiB (step 20, layer 'stem.conv', "
        "pass weight_gradient: one window of 16 takes 512 bytes, and half the buffer must hold it)"})
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

// What an error says would do, does; a byte less does not.
TEST(Replay, TheSmallestBuffersThatWorkAreNamed) {
  struct Case {
    const char* recipe;
    std::vector<std::string> settings;
    std::string key;
    std::string why;  // of the largest need
  };
  const std::vector<std::string> given = {"mapping=given", "block_order=n-outside", "m_block=64",
                                          "n_block=32", "k_block=32"};
  const Case cases[] = {
      {"fp8", {"mapping=auto"}, "a_buffer", "weight_gradient: the lines of one step take"},
      {"fp8", {"mapping=auto"}, "b_buffer", "the lines of one step take"},
      {"fp8", {"mapping=auto"}, "c_buffer", "a block of 16 x 16 sums of 32 bits takes 1024 bytes"},
      {"int8-rangebn", {"mapping=auto"}, "c_buffer", "a block of 16 x 16 sums of 48 bits takes 1536 bytes"},
      {"fp8", {"mapping=auto", "norm_fusion=drain"}, "c_buffer", "16 x 16 sums of 40 bits"},
      {"fp8", {"mapping=auto", "norm_lanes=3000"}, "a_buffer", "8 bits for each of 3000 norm_lanes"},
      {"fp8",
       {"mapping=auto", "norm_fusion=drain", "norm_lanes=4000"},
       "b_buffer",
       "one element in each of 4000 lanes"},
      {"fp8",
       {"mapping=auto", "update_lanes=2000"},
       "a_buffer",
       "update: half of it must hold the 20000 bytes"},
      {"fp8", given, "a_buffer", "the lines of one step take"},
      {"fp8", given, "b_buffer", "the lines of one step take"},
      {"fp8", given, "c_buffer", "a block of 64 x 32 sums"},
      {"int8-rangebn", {"mapping=simple"}, "a_buffer", "one window of 16"},
  };
  for (const Case& one : cases) {
    const std::string set = one.key + "=";
    const auto with = [&](const std::string& size) {
      std::vector<std::string> arguments = {"replay",   cnn,        "--steps",  "20",
                                            "--recipe", one.recipe, "--summary"};
      for (const std::string& setting : one.settings) arguments.insert(arguments.end(), {"--set", setting});
      arguments.insert(arguments.end(), {"--set", std::string(set).append(size)});
      return run_mantissa(arguments);
    };
    const std::string tiny = one.settings.front() == "mapping=simple" ? "512B" : "64B";
    const Finished run = with(tiny);
    EXPECT_EQ(run.exit_code, 2) << one.key;
    std::string begin = one.key;
    begin.append(" ").append(tiny).append(" is too small; the smallest that works is ");
    const std::size_t at = run.err.find(begin);
    ASSERT_NE(at, std::string::npos) << run.err;
    EXPECT_TRUE(contains(run.err, one.why)) << run.err;
    const std::size_t from = at + begin.size();
    const std::string size = run.err.substr(from, run.err.find(' ', from) - from);
    EXPECT_EQ(with(size).exit_code, 0) << one.key << " " << size << ": " << with(size).err;
    const std::string less = std::to_string(parse_quantity(size, Unit::bytes) - 1) + "B";
    EXPECT_TRUE(contains(with(less).err, "the smallest that works is " + size + " "))
        << one.key << " " << less;
  }
}

// The second machine moves less, and makes the same numbers, whatever the mapping.
TEST(Replay, TheMappingChangesCyclesAndNoBit) {
  for (const char* recipe : {"fp8", "lognormal-sparse", "int8-rangebn"}) {
    const Json simple = replay({cnn, "--recipe", recipe, "--set", "mapping=simple"});
    const Json blocks = replay({cnn, "--recipe", recipe, "--set", "mapping=auto"});
    const Json given =
        replay({cnn, "--recipe", recipe, "--set", "mapping=given", "--set", "block_order=n-outside", "--set",
                "m_block=32", "--set", "n_block=16", "--set", "k_block=16"});
    ASSERT_EQ(blocks["layers"].size(), simple["layers"].size());
    for (std::size_t i = 0; i < blocks["layers"].size(); ++i) {
      const Json& one = blocks["layers"][i];
      for (const char* key :
           {"sqnr_db", "cosine", "max_ulp", "bias", "overflow", "underflow", "flushed_to_zero"}) {
        EXPECT_EQ(one[key], simple["layers"][i][key]) << key;
        EXPECT_EQ(one[key], given["layers"][i][key]) << key;
      }
      EXPECT_GE(one["dram_bytes"], one["tensor_bytes"]);
      if (one["kind"] == "batchnorm") continue;
      EXPECT_NE(one["mapping"], "simple");
      EXPECT_LE(one["macs"].get<std::uint64_t>() + one["skipped_macs"].get<std::uint64_t>(),
                simple["layers"][i]["macs"].get<std::uint64_t>() +
                    simple["layers"][i]["skipped_macs"].get<std::uint64_t>());
    }
    EXPECT_LT(blocks["totals"]["cycles"], simple["totals"]["cycles"]);
    EXPECT_LT(blocks["totals"]["dram_bytes"], given["totals"]["dram_bytes"]);
  }
}

TEST(Replay, KeysAreSetOnTheCommandLine) {
  const Json plain = replay({cnn});
  const Json fast =
      replay({cnn, "--set", "clock=1GHz", "--set", "recipe.name=mine", "--set", "activations.rounding=sr:8"});
  EXPECT_EQ(fast["arch"]["clock_mhz"], 1000);
  EXPECT_EQ(fast["recipe"]["name"], "mine");
  EXPECT_EQ(fast["settings"],
            Json::parse(R"(["clock=1GHz", "recipe.name=mine", "activations.rounding=sr:8"])"));
  EXPECT_NE(fast["layers"][4]["formats"], plain["layers"][4]["formats"]);
  // Memory takes the same seconds, and so more cycles.
  EXPECT_GT(fast["totals"]["stall_load_cycles"], plain["totals"]["stall_load_cycles"]);
  const struct {
    std::string word;
    std::string message;
  } cases[] = {{"clock", "expected KEY=VALUE"},
               {"clck=1GHz", "no such key; of an architecture: "},
               {"name=mine", "write arch.name or recipe.name"},
               {"clock=fast", "--set 'clock=fast': clock: 'fast' is not a number with a unit"},
               {"rows.x=4", "--set 'rows.x=4': 'rows' is no map of keys"},
               {"rows=0", "--set 'rows=0': rows"},
               {"weights.format=e9m9", "--set 'weights.format=e9m9': "},
               {"c_buffer=64B", "c_buffer 64B is too small; the smallest that works is 1KiB"}};
  for (const auto& [word, message] : cases) {
    const Finished run = run_mantissa({"replay", cnn, "--set", "mapping=auto", "--set", word});
    EXPECT_EQ(run.exit_code, 2) << word;
    EXPECT_NE(run.err.find(message), std::string::npos) << word << ": " << run.err;
  }
}

TEST(Replay, WritesACsvAndOneLine) {
  const Scratch scratch;
  const std::string csv = scratch.path() + "/layers.csv";
  const Finished run = run_mantissa({"replay", cnn, "--summary", "--csv", csv, "--set", "rows=8"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(lines_of(run.out).size(), 1U) << run.out;
  EXPECT_EQ(run.out.substr(0, 28), "edge, fp8, set rows=8: cycle") << run.out;
  EXPECT_NE(run.out.find("DRAM traffic"), std::string::npos);
  std::ifstream file(csv);
  std::string head;
  std::getline(file, head);
  EXPECT_EQ(head.substr(0, 16), "step,layer,pass,") << head;
  const Finished same = run_mantissa({"replay", cnn, "--csv", cnn});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.err.find("--csv"), std::string::npos) << same.err;
}

TEST(Replay, AStepCountsOnce) {
  EXPECT_EQ(replay({cnn, "--steps", "20", "--steps", "20"}), replay({cnn, "--steps", "20"}));
}

TEST(Replay, BadInputIsNamedAndLeavesNothing) {
  const Scratch scratch;
  const std::string out = scratch.path() + "/out";
  struct Bad {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string small = written(scratch, "small.yaml", "name: s\na_buffer: 64B\n");
  const std::string unknown = written(scratch, "unknown.yaml", "name: s\nrowz: 4\n");
  const std::string vast = written(scratch, "vast.yaml", "name: v\na_buffer: 1024GiB\n");
  const std::string wide =
      written(scratch, "wide.yaml",
              "name: w\nport: 65535\nrows: 4096\ncols: 4096\n" + std::string("a_buffer: 1GiB\n"
                                                                             "b_buffer: 1GiB\n"));
  const std::string text = written(scratch, "text.safetensors", "this is no trace");
  const std::vector<Bad> cases = {
      {{"nowhere.safetensors"}, "nowhere.safetensors"},
      {{text}, "text.safetensors"},
      {{cnn, "--recipe", "fp9"}, "fp8-hybrid"},
      {{cnn, "--arch", "moon"}, "edge"},
      {{cnn, "--arch", small}, "a_buffer"},
      {{cnn, "--arch", unknown}, "unknown.yaml:2"},
      {{cnn, "--arch", vast, "--engine", "systemc"}, "a_buffer = 1099511627776 is too large"},
      {{cnn, "--arch", wide, "--engine", "systemc"}, "rows * cols = 16777216 is too large"},
      {{cnn, "--engine", "magic"}, "lockstep"},
      {{cnn, "--engine", "systemc", "--recipe", "fp32"}, "lognormal-sparse"},
      {{cnn, "--loss-scale", "99"}, "--loss-scale"},
      {{cnn, "--threads", "0"}, "--threads"},
  };
  for (const Bad& bad : cases) {
    std::vector<std::string> arguments = {"replay"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    arguments.insert(arguments.end(), {"--out", out});
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_NE(run.err.find(bad.message), std::string::npos) << bad.message << " in " << run.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << bad.message;
  }
}

}  // namespace
}  // namespace mantissa::test

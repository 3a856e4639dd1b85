// `mantissa train` as a user runs it: what it prints, runs that are killed and go on, traces that replay, bad
// input.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Learns in a second. Its first and its last layer are exempt in some recipes, the one between never.
std::string tiny_network(const Scratch& scratch) {
  std::string path = scratch.path() + "/tiny.yaml";
  std::ofstream(path) << "name: tiny\n"
                         "training: {learning_rate: 0.1}\n"
                         "layers:\n"
                         "  - {kind: max-pool, kernel: 4}\n"
                         "  - {kind: conv, name: conv, out: 4, kernel: 3}\n"
                         "  - {kind: norm, name: norm}\n"
                         "  - {kind: relu}\n"
                         "  - {kind: linear, name: hidden, out: 16}\n"
                         "  - {kind: relu}\n"
                         "  - {kind: linear, name: fc, out: 10}\n";
  return path;
}

Json trained(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"train", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished run = run_mantissa(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.exit_code == 0 ? Json::parse(run.out) : Json();
}

TEST(Train, LearnsAndSaysHowWell) {
  const Scratch scratch;
  const std::string network = tiny_network(scratch);
  const Json report = trained({"--net", network, "--recipe", "fp8", "--epochs", "2", "--images", "6400"});
  ASSERT_EQ(report["val_accuracy"].size(), 2U);
  EXPECT_GT(report["val_accuracy"][1].get<double>(), 0.5);
  EXPECT_EQ(report["history"][0]["steps"], 50);
  EXPECT_FALSE(report["conversions"].empty());
  EXPECT_EQ(report["gradients"].size(), 3U);
  const Finished text = run_mantissa({"train", "--net", network, "--epochs", "1", "--images", "1280"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("validation accuracy: "), std::string::npos);
}

TEST(Train, DrawsItsCurves) {
  const Scratch scratch;
  const std::string out = scratch.path() + "/run.json";
  const std::string plots = scratch.path() + "/new/plots";
  const Finished run = run_mantissa({"train", "--net", tiny_network(scratch), "--recipe", "lognormal-sparse",
                                     "--epochs", "2", "--images", "1280", "--out", out, "--plots", plots});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json::parse(contents(out))["mantissa_train"], 1);
  EXPECT_EQ(contents(plots + "/curves.png").substr(1, 3), "PNG");
  const std::string svg = contents(plots + "/curves.svg");
  for (const char* word : {"<svg", "Loss scale", "Measured sparsity", "recipe lognormal-sparse"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  EXPECT_EQ(std::distance(fs::directory_iterator(plots), fs::directory_iterator()), 2);  // no drafts
}

TEST(Train, ReportsEveryByteThatItsWorkersSend) {
  const Scratch scratch;
  const std::string recipe = scratch.path() + "/sparse.yaml";
  std::ofstream(recipe) << "name: sparse\narithmetic: fp32\ncompression: {sparsity: 0.999}\n";
  const std::vector<std::string> run = {
      "--net", tiny_network(scratch), "--epochs", "2",        "--images", "320", "--batch",
      "16",    "--workers",           "4",        "--recipe", recipe};
  const Json report = trained(run);
  const Json& exchange = report["exchange"];
  constexpr int workers = 4;
  constexpr int steps = 2 * 5;
  EXPECT_EQ(report["workers"], workers);
  EXPECT_EQ(exchange["steps"], steps);
  // Of 36, 1600 and 160 weights 1, 2 and 1 are sent in 6 bytes each, with a length of 4 bytes per tensor;
  // gamma, beta and two biases as they are.
  constexpr int matrices = 3 * 4 + 4 * 6;
  constexpr int vectors = 4 * (4 + 4 + 16 + 10);
  EXPECT_EQ(exchange["matrices"]["sent_bytes"], workers * steps * matrices);
  EXPECT_EQ(exchange["matrices"]["dense_bytes"], workers * steps * 4 * (36 + 1600 + 160));
  EXPECT_EQ(exchange["vectors"]["sent_bytes"], workers * steps * vectors);
  EXPECT_EQ(exchange["vectors"]["dense_bytes"], workers * steps * vectors);
  // A packet of a step's loss has 24 bytes, and every packet's length 4; after an epoch four means and scales
  // of each worker, and worker 0's validation.
  constexpr int control = workers * (steps * (4 + 24 + 4) + 2 * (4 + 32) + 2 * 4) + 2 * 24;
  EXPECT_EQ(exchange["control_bytes"], control);
  EXPECT_EQ(exchange["sent_bytes"], workers * steps * (matrices + vectors) + control);
  EXPECT_EQ(exchange["sent_bytes_per_step"], exchange["sent_bytes"].get<double>() / steps);
  EXPECT_EQ(exchange["ratio"], exchange["dense_bytes"].get<double>() / exchange["sent_bytes"].get<double>());
  EXPECT_FALSE(
      trained({"--net", tiny_network(scratch), "--epochs", "1", "--images", "64"}).contains("exchange"));
}

TEST(Train, KilledAtAnyMomentItGoesOnWithTheSameBits) {
  const Scratch scratch;
  const std::string network = tiny_network(scratch);
  const std::vector<std::string> run = {"--net",    network, "--recipe", "fp8",
                                        "--epochs", "2",     "--images", "12800"};
  const std::string whole = trained(run)["weights_digest"];
  const std::string checkpoint = scratch.path() + "/run.safetensors";
  const std::string command = "mantissa train --net " + network +
                              " --recipe fp8 --epochs 2 --images 12800 --checkpoint " + checkpoint +
                              " --checkpoint-steps 7 --resume --json";
  // Each run is killed some milliseconds after its first checkpoint, one of the first before it; the last
  // comes through. A longer wait would let a fast machine finish after a few kills.
  const std::string stamp = "stat -c %y " + checkpoint + " 2>/dev/null";
  const Finished last = run_shell(
      "hits=0; for i in $(seq 1 12); do before=$(" + stamp + "); " + command +
      " > out.json 2>/dev/null & pid=$!; "
      "while [ $i != 2 ] && grep -q 'State:.[RSD]' /proc/$pid/status && [ \"$(" +
      stamp +
      ")\" = \"$before\" ]; do sleep 0.01; done; sleep 0.00$((RANDOM % 9)); kill -9 $pid 2>/dev/null; "
      "wait $pid 2>/dev/null; [ $? = 137 ] && hits=$((hits + 1)); done; echo hits $hits >&2; " +
      command);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(Json::parse(last.out)["weights_digest"], whole);
  EXPECT_GE(std::stoi(last.err.substr(last.err.find("hits ") + 5)), 3)
      << "hardly any run was killed before its end";
  fs::remove("out.json");
}

TEST(Train, ARecordedStepReplaysWithItsOwnBits) {
  const Scratch scratch;
  const std::string trace = scratch.path() + "/t.safetensors";
  trained({"--net", tiny_network(scratch), "--recipe", "fp8", "--epochs", "1", "--images", "2560", "--record",
           "3,19", "--record-to", trace});
  const Finished check = run_mantissa({"trace", "check", trace});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  const Finished replay = run_mantissa({"replay", trace, "--recipe", "fp8", "--json"});
  ASSERT_EQ(replay.exit_code, 0) << replay.err;
  const Json bits = Json::parse(replay.out)["run_bits"];
  EXPECT_EQ(bits["different"], 0);
  EXPECT_GT(bits["compared"].get<int>(), 10000);
  EXPECT_NE(run_mantissa({"replay", trace, "--recipe", "fp8"}).out.find("all are the same"),
            std::string::npos);
}

TEST(Train, BadInputIsExplained) {
  const Scratch scratch;
  const auto complaint = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_NE(complaint({"--data", scratch.path()}).find("apt-get install dataset-fashion-mnist"),
            std::string::npos);
  EXPECT_NE(complaint({"--net", "resnet9"}).find("shipped are lenet, mlp, resnet8"), std::string::npos);
  EXPECT_NE(complaint({"--recipe", "zipml"}).find("no network is trained with it"), std::string::npos);
  EXPECT_NE(complaint({"--resume"}).find("--resume needs --checkpoint"), std::string::npos);
  EXPECT_NE(complaint({"--plots", scratch.path()}).find("--plots needs --out FILE"), std::string::npos);
  EXPECT_NE(complaint({"--epochs", "1", "--images", "128", "--record", "1"}).find("the run has steps 0..0"),
            std::string::npos);
  EXPECT_NE(complaint({"--images", "60001"}).find("60001"), std::string::npos);
  // Before the first step, not after the last.
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--out"}, {"--checkpoint"}, {"--record", "1", "--record-to"}}) {
    std::vector<std::string> arguments = {"--epochs", "100000"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    arguments.push_back(scratch.path() + "/missing/x");
    EXPECT_NE(complaint(arguments).find("missing/x"), std::string::npos) << option.front();
  }
}

TEST(Train, NumbersAreFiniteAndDecimal) {
  const auto complaint = [](const std::string& option, const std::string& value) {
    const Finished run = run_mantissa({"train", "--net", "none.yaml", option, value});
    EXPECT_EQ(run.exit_code, 2);
    return run.err;
  };
  for (const char* option : {"--lr", "--weight-decay"}) {
    for (const char* value : {"nan", "inf", "-nan", "-1", "1e300", "0x1", "1,5", "x"}) {
      EXPECT_NE(complaint(option, value).find("decimal number in 0..1"), std::string::npos)
          << option << value;
    }
    EXPECT_NE(complaint(option, "0.5").find("none.yaml"), std::string::npos);
  }
  for (const char* value : {"-1", "1.5", "0x10", "4294967296", "x", "1,,2", ",1", "1,"})
    EXPECT_NE(complaint("--record", value).find("--record: "), std::string::npos) << value;
  // Ten, not eight: a run of 9 steps has no step 10.
  const Scratch scratch;
  const Finished ten =
      run_mantissa({"train", "--net", tiny_network(scratch), "--epochs", "1", "--images", "9", "--batch", "1",
                    "--record", "010", "--record-to", scratch.path() + "/t.safetensors"});
  EXPECT_NE(ten.err.find("--record 10: the run has steps 0..8"), std::string::npos) << ten.err;
}

TEST(Train, NoResultOverwritesAnInputOrAnotherResult) {
  const Scratch scratch;
  const std::string network = tiny_network(scratch);
  const std::string before = contents(network);
  const std::string one = scratch.path() + "/one";
  fs::create_symlink(network, scratch.path() + "/link");
  fs::create_symlink("one", scratch.path() + "/to-one");  // which is not there yet
  fs::create_hard_link(network, scratch.path() + "/hard");
  fs::create_directory(scratch.path() + "/plots");
  const auto complaint = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "--net", network, "--epochs", "1", "--images", "10"});
    const Finished run = run_mantissa(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(contents(network), before);
    return run.err;
  };
  const std::vector<std::vector<std::string>> cases = {
      {"--out", network},
      {"--checkpoint", scratch.path() + "/link"},
      {"--record", "0", "--record-to", scratch.path() + "/hard"},
      {"--out", scratch.path() + "/../" + fs::path(scratch.path()).filename().string() + "/tiny.yaml"},
      {"--out", one, "--checkpoint", one},
      {"--out", one, "--record", "0", "--record-to", scratch.path() + "/./one"},
      {"--checkpoint", one, "--record", "0", "--record-to", scratch.path() + "/to-one"},
      {"--out", scratch.path() + "/plots/curves.svg", "--plots", scratch.path() + "/plots"},
  };
  for (const std::vector<std::string>& each : cases)
    EXPECT_NE(complaint(each).find(" are one file"), std::string::npos) << each.back() << complaint(each);
}

TEST(Train, AStepThatIsOverCannotBeRecorded) {
  const Scratch scratch;
  const std::string network = tiny_network(scratch);
  const std::string checkpoint = scratch.path() + "/c.safetensors";
  const std::vector<std::string> run = {"train",    "--net", network,        "--epochs", "1",
                                        "--images", "256",   "--checkpoint", checkpoint, "--resume"};
  EXPECT_EQ(run_mantissa(run).exit_code, 0);
  std::vector<std::string> again = run;
  again.insert(again.end(), {"--record", "1"});
  const Finished refused = run_mantissa(again);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--record 1: the run has steps 2..1 to come"), std::string::npos) << refused.err;
}

TEST(Train, ARunThatDivergesSaysWhere) {
  const Finished run = run_mantissa(
      {"train", "--net", "mlp", "--recipe", "fp8", "--epochs", "1", "--images", "2560", "--lr", "1000"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("DIVERGED: loss is not finite at step "), std::string::npos) << run.out;
}

}  // namespace
}  // namespace mantissa::test

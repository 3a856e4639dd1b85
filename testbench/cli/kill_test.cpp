// `mantissa train` and `mantissa replay` killed at any moment: a result is there as a whole or not at all,
// what goes on ends with the bits of an undisturbed run, and nothing else stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "testbench/cli/kill_harness.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/cli/tiny_data.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class KilledRuns : public testing::Test {
 protected:
  KilledRuns() {
    write_tiny_data(in("data"), 1000, 10);
    write_tiny_network(in("tiny.yaml"));
    fs::create_directory(in("out"));
  }
  std::string in(const std::string& name) const { return scratch_.path() + "/" + name; }

  std::string train(const std::string& more) const {
    return "mantissa train --net " + in("tiny.yaml") + " --data " + in("data") +
           " --recipe lognormal-sparse --batch 10 --threads 1 " + more;
  }
  std::string drafts() const {
    std::string found;
    for (const auto& entry : fs::recursive_directory_iterator(in("out"))) {
      const std::string name = entry.path().filename();
      if (name.rfind(".mantissa-", 0) == 0) found += name + "\n";
    }
    return found;
  }
  // By a signal of three, some time within `longest` milliseconds.
  void kill(const std::string& command, std::int64_t longest) {
    const int signal = std::array{SIGKILL, SIGTERM, SIGKILL, SIGINT}[runs_++ % 4];
    const Killed killed =
        kill_after("exec " + command, std::chrono::milliseconds(random_() % longest), signal);
    EXPECT_EQ(killed.left_running, "") << "run " << runs_ << ", signal " << signal;
    // What SIGKILL left before is gone with the next draft, but that one may never have come to it.
    left_ = signal == SIGKILL || (left_ && killed.in_time);
    EXPECT_TRUE(left_ || drafts().empty()) << "run " << runs_ << ", signal " << signal << ": " << drafts();
    in_time_ += killed.in_time ? 1 : 0;
  }

  void kill_training(int kills);
  void kill_replay(int kills);

  Scratch scratch_;
  std::mt19937 random_{1};
  int runs_ = 0;
  int in_time_ = 0;    // before its end
  bool left_ = false;  // a draft, perhaps
};

// Of a run, without what a clock says.
std::string result(const std::string& path) {
  Json json = Json::parse(contents(path));
  for (Json& epoch : json.at("history")) epoch.erase("training_seconds");
  return json.dump();
}

void KilledRuns::kill_training(int kills) {
  const Finished whole = run_shell(train("--epochs 10 --out " + in("whole.json")));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const std::string out = in("out/run.json");
  const std::string command = train("--epochs 10 --checkpoint " + in("out/c.safetensors") +
                                    " --checkpoint-steps 3 --resume --out " + out);
  while (in_time_ < kills) {
    ASSERT_LT(runs_, 3 * kills);
    kill(command, 250);
    if (!fs::exists(out)) continue;
    ASSERT_EQ(result(out), result(in("whole.json"))) << "run " << runs_;
    // Over: from the start again.
    fs::remove(out);
    fs::remove(in("out/c.safetensors"));
  }
  const Finished last = run_shell(command);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(result(out), result(in("whole.json")));
  EXPECT_EQ(drafts(), "");
  std::printf("%d of %d runs of train were killed before their end\n", in_time_, runs_);
}

void KilledRuns::kill_replay(int kills) {
  const std::string trace = in("trace.safetensors");
  const Finished recorded = run_shell(train("--epochs 1 --images 20 --record 1 --record-to " + trace));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto command = [&](int which, const std::string& report) {
    return "mantissa replay " + trace + " --recipe " + (which == 0 ? "fp8" : "fp32") + " --out " + in(report);
  };
  const auto values = [&](const std::string& report) {
    EXPECT_TRUE(Json::accept(contents(in(report + "/report.json"))));
    return contents(in(report + "/layers.csv"));
  };
  std::array<std::string, 2> whole;
  // Up to the moment in which a report appears, and a little beyond.
  std::int64_t longest = 0;
  for (const int which : {0, 1}) {
    const auto start = std::chrono::steady_clock::now();
    const Finished run = run_shell(command(which, "whole" + std::to_string(which)));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    longest = std::max(longest, (std::chrono::steady_clock::now() - start) / std::chrono::microseconds(900));
    whole.at(which) = values("whole" + std::to_string(which));
  }
  ASSERT_NE(whole[0], whole[1]);
  std::string before;
  while (in_time_ < kills) {
    ASSERT_LT(runs_, 3 * kills);
    const int which = runs_ % 2;
    kill(command(which, "out/report"), longest);
    const std::string now = fs::exists(in("out/report")) ? values("out/report") : "";
    ASSERT_TRUE(now == before || now == whole.at(which)) << "run " << runs_;
    before = now;
  }
  const Finished last = run_shell(command(0, "out/report"));
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(values("out/report"), whole[0]);
  EXPECT_EQ(drafts(), "");
  std::printf("%d of %d runs of replay were killed before their end\n", in_time_, runs_);
}

TEST_F(KilledRuns, TrainingGoesOnWithTheSameBits) { kill_training(12); }
TEST_F(KilledRuns, ReplayLeavesAWholeReportOrNone) { kill_replay(4); }

using LongKilledRuns = KilledRuns;
TEST_F(LongKilledRuns, TrainingGoesOnWithTheSameBits) { kill_training(200); }
TEST_F(LongKilledRuns, ReplayLeavesAWholeReportOrNone) { kill_replay(150); }

}  // namespace
}  // namespace mantissa::test

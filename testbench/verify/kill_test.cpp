// `mantissa verify` killed at any moment: no compiler goes on, nothing is left, and the cache can be used.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "testbench/cli/kill_harness.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

std::string scratch_in(const fs::path& cache) {
  std::string found;
  if (!fs::exists(cache)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(cache)) {
    if (entry.path().filename().string().rfind("build-", 0) == 0) found += entry.path().string() + "\n";
  }
  return found;
}

void kill_many(int runs) {
  const Scratch scratch;
  const std::string cache = scratch.path() + "/cache";
  // Data that no devices were compiled for: this run compiles everything.
  const fs::path data = fs::path(scratch.path()) / "data";
  fs::create_directory(data);
  for (const char* part : {"sim", "rtl"})
    fs::create_directory_symlink(fs::path(MANTISSA_SOURCE_DIR) / part, data / part);
  const std::string verify = "cd " + scratch.path() + " && export MANTISSA_CACHE=" + cache +
                             " MANTISSA_DATA=" + data.string() + " TMPDIR=" + scratch.path() +
                             "; exec mantissa verify lfsr --config leap16 --vectors 100 --wave w.fst";
  std::mt19937 random(1);
  int in_time = 0;
  for (int run = 0; run < runs; ++run) {
    // Now and then all over again: the first thing that is compiled is the largest.
    if (run % 8 == 0) fs::remove_all(cache);
    const int signal = std::array{SIGTERM, SIGINT, SIGKILL}[run % 3];
    const Killed killed = kill_after(verify, std::chrono::milliseconds(random() % 3000), signal);
    EXPECT_EQ(killed.left_running, "") << "run " << run << ", signal " << signal;
    if (signal != SIGKILL) {
      EXPECT_EQ(scratch_in(cache), "") << "run " << run << ", signal " << signal;
    }
    in_time += killed.in_time ? 1 : 0;
  }
  EXPECT_GT(in_time, runs / 2);
  const Finished last = run_shell(verify);
  EXPECT_EQ(last.exit_code, 0) << last.out << last.err;
  EXPECT_EQ(scratch_in(cache), "");
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "cache" || name == "data" || name == "w.fst") << name << " was left";
  }
}

TEST(KilledVerify, LeavesNothingAndCanBeRepeated) { kill_many(4); }
TEST(LongKilledVerify, LeavesNothingAndCanBeRepeated) { kill_many(150); }

}  // namespace
}  // namespace mantissa::test

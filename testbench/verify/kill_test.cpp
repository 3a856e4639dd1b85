// `mantissa verify` killed at any moment: no compiler goes on, nothing is left, and the cache can be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
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

void kill_many(int kills) {
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
  // Everything compiled, with a little beyond.
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run_shell(verify).exit_code, 0);
  const std::int64_t longest = (std::chrono::steady_clock::now() - start) / std::chrono::microseconds(900);
  std::mt19937 random(1);
  int in_time = 0;
  int run = 0;
  for (; in_time < kills; ++run) {
    ASSERT_LT(run, 3 * kills);
    // Now and then all over again: the first thing that is compiled is the largest.
    if (run % 8 == 0) fs::remove_all(cache);
    const int signal = std::array{SIGTERM, SIGINT, SIGKILL}[run % 3];
    // Most of them early; some may come to the moments in which something is put into the cache.
    const std::int64_t within = run % 4 == 1 ? longest : std::min<std::int64_t>(longest, 3000);
    const Killed killed = kill_after(verify, std::chrono::milliseconds(random() % within), signal);
    EXPECT_EQ(killed.left_running, "") << "run " << run << ", signal " << signal;
    if (signal != SIGKILL) {
      EXPECT_EQ(scratch_in(cache), "") << "run " << run << ", signal " << signal;
    }
    in_time += killed.in_time ? 1 : 0;
  }
  std::printf("%d of %d runs of verify were killed before their end\n", in_time, run);
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

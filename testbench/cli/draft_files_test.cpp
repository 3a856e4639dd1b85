// How `mantissa vectors` puts its files in place: what it refuses to replace, and what is left when it ends
// early.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

class DraftFiles : public testing::Test {
 protected:
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  static Finished vectors(const std::string& path, const std::string& seed = "1") {
    return run_mantissa({"vectors", "fp32_add", "--count", "10", "--seed", seed, "--out", path});
  }

  Scratch scratch_;
  const fs::path directory_ = scratch_.path();
};

using Names = std::vector<std::string>;

TEST_F(DraftFiles, SpecialFilesAreNotReplaced) {
  for (const std::string name : {"pipe", "x.svh"}) {
    const std::string pipe = in_directory(name);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const Finished run = vectors(in_directory(name == "pipe" ? "pipe" : "x"));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(contains(run.err, name + ": it is not a regular file")) << run.err;
    EXPECT_TRUE(fs::is_fifo(pipe));
    EXPECT_EQ(names(), Names{name});
    fs::remove(pipe);
  }
  // Behind a link too. Only files of this directory: a program that fails here replaces what it is given, and
  // as root that must never be a device of the machine.
  ASSERT_EQ(mkfifo(in_directory("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", directory_ / "link");
  EXPECT_EQ(vectors(in_directory("link")).exit_code, 2);
  EXPECT_EQ(names(), (Names{"link", "pipe"}));
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_TRUE(fs::is_fifo(directory_ / "pipe"));
}

TEST_F(DraftFiles, LinksStayAndTheirTargetsAreReplaced) {
  fs::create_directory(directory_ / "data");
  std::ofstream(directory_ / "data" / "old.hex") << "old";
  fs::create_symlink("data/old.hex", directory_ / "x");
  fs::create_symlink("data/new.svh", directory_ / "x.svh");  // its target is not there yet
  const Finished run = vectors(in_directory("x"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(names(), (Names{"data", "x", "x.svh"}));
  EXPECT_TRUE(fs::is_symlink(directory_ / "x"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "x.svh"));
  EXPECT_TRUE(contains(contents(directory_ / "data" / "old.hex"), "unit: fp32_add"));
  EXPECT_TRUE(contains(contents(directory_ / "data" / "new.svh"), "localparam"));
  fs::create_symlink("loop", directory_ / "loop");
  EXPECT_EQ(vectors(in_directory("loop")).exit_code, 2);
  EXPECT_TRUE(fs::is_symlink(directory_ / "loop"));
}

TEST_F(DraftFiles, NeighboursAreLeftAlone) {
  std::ofstream(in_directory("x.tmp")) << "mine";
  std::ofstream(in_directory("x.svh.tmp")) << "mine too";
  EXPECT_EQ(vectors(in_directory("x")).exit_code, 0);
  EXPECT_EQ(names(), (Names{"x", "x.svh", "x.svh.tmp", "x.tmp"}));
  EXPECT_EQ(contents(in_directory("x.tmp")), "mine");
  EXPECT_EQ(contents(in_directory("x.svh.tmp")), "mine too");
}

TEST_F(DraftFiles, ModeFollowsTheUmask) {
  run_shell("umask 027; mantissa vectors lfsr --count 1 --out " + in_directory("x"));
  EXPECT_EQ(static_cast<int>(fs::status(directory_ / "x").permissions()), 0640);
}

TEST_F(DraftFiles, RunsAtTheSameTimeDoNotMix) {
  // Of different lengths, so that a mixture shows: each file must be one run's, and both the same run's.
  std::string script;
  for (int seed = 1; seed <= 8; ++seed) {
    const std::string number = std::to_string(seed);
    script += "mantissa vectors fp32_add --seed " + number + " --count " + std::to_string(20000 + seed) +
              " --out " + in_directory("x") + " & runs=\"$runs $!\"; ";
  }
  script += "failed=0; for run in $runs; do wait $run || failed=1; done; exit $failed";
  for (int round = 0; round < 5; ++round) {
    const Finished run = run_shell(script);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(names(), (Names{"x", "x.svh"}));
    const std::string words = contents(in_directory("x"));
    const std::size_t at = words.find("// seed: ");
    ASSERT_NE(at, std::string::npos);
    const std::string seed = words.substr(at + 9, 1);
    const std::vector<std::string> lines = lines_of(words);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const std::string& line) { return line.rfind("//", 0) != 0; }),
              20000 + std::stoi(seed));
    EXPECT_TRUE(contains(contents(in_directory("x.svh")), "seed: " + seed + "\n"));
  }
}

TEST_F(DraftFiles, SignalsLeaveNothingBehind) {
  std::ofstream(in_directory("x")) << "old";
  for (const std::string signal : {"INT", "TERM", "HUP"}) {
    // Ends it as soon as its drafts are there. Job control, because a background job ignores SIGINT without.
    const Finished run = run_shell(
        "set -m; mantissa vectors fp32_add --count 2000000000 --out " + in_directory("x") +
        " & for i in $(seq 200); do [ $(ls -A " + directory_.string() +
        " | wc -l) -ge 3 ] && break; sleep 0.02; done; ls -A " + directory_.string() + " | wc -l; kill -" +
        signal + " $!; wait $!; status=$?; [ $status -gt 128 ] && kill -l $status");
    ASSERT_FALSE(lines_of(run.out).empty());
    EXPECT_EQ(lines_of(run.out).front(), "3") << run.err;
    EXPECT_EQ(lines_of(run.out).back(), signal) << run.err;  // it died of the signal, as a shell expects
    EXPECT_EQ(names(), Names{"x"}) << signal;
    EXPECT_EQ(contents(in_directory("x")), "old");
  }
}

TEST_F(DraftFiles, AnIgnoredSignalStaysIgnored) {
  const Finished run = run_shell("trap '' HUP; mantissa vectors fp32_add --count 300000 --out " +
                                 in_directory("x") + " & sleep 0.1; kill -HUP $!; wait $!");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(names(), (Names{"x", "x.svh"}));
}

TEST_F(DraftFiles, FileSizeLimitIsAnError) {
  const Finished run =
      run_shell("ulimit -f 8; mantissa vectors lfsr --count 100000 --out " + in_directory("x"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "cannot write " + in_directory("x"))) << run.err;
  EXPECT_EQ(names(), Names{});
}

}  // namespace
}  // namespace mantissa::test

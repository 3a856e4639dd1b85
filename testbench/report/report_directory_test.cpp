// `--out DIR`: what it refuses, what it replaces, and that nothing stays behind however it ends. The plots
// are made by a tools/plot without matplotlib here, which is quick; report_page_test.cpp draws them.
#include "sim/report/report_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "testbench/cli/scratch.hpp"
#include "testbench/report/example_report.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ReportDirectory : public testing::Test {
 public:
  ReportDirectory(const ReportDirectory&) = delete;
  ReportDirectory& operator=(const ReportDirectory&) = delete;

 protected:
  // Python finds this module instead of Debian's.
  ReportDirectory() { matplotlib_is("raise ImportError(\"No module named 'matplotlib'\")\n"); }
  ~ReportDirectory() override { unsetenv("PYTHONPATH"); }

  void matplotlib_is(const std::string& source) const {
    std::ofstream(modules_.path() + "/matplotlib.py") << source;
    setenv("PYTHONPATH", modules_.path().c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  }
  fs::path in_scratch(const std::string& name) const { return fs::path(scratch_.path()) / name; }
  static Names names(const fs::path& directory) {
    Names found;
    for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  Names names() const { return names(scratch_.path()); }
  static std::string refusal(const std::function<void()>& work) {
    try {
      work();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "not refused";
  }

  Scratch scratch_;
  Scratch modules_;
};

const Names without_plots = {"layers.csv", "report.html", "report.json"};

TEST_F(ReportDirectory, WithoutMatplotlibTheRestIsWrittenAndTheUserTold) {
  const std::vector<std::string> notes = write_report(tiny_report(), in_scratch("out"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(contains(notes[0], "python3-matplotlib")) << notes[0];
  EXPECT_EQ(names(in_scratch("out")), without_plots);
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_TRUE(contains(contents(in_scratch("out") / "report.html"), "No plots: matplotlib was missing"));
}

TEST_F(ReportDirectory, ParentsAreMadeAndSlashesAndLinksFollowed) {
  write_report(tiny_report(), in_scratch("a/b/c/"));
  EXPECT_EQ(names(in_scratch("a/b/c")), without_plots);
  EXPECT_EQ(names(), Names{"a"});
  fs::create_directory_symlink("a/b/c", in_scratch("link"));
  write_report(tiny_report(), in_scratch("link"));
  EXPECT_TRUE(fs::is_symlink(in_scratch("link")));
  EXPECT_EQ(names(in_scratch("a/b")), Names{"c"});
}

TEST_F(ReportDirectory, AFormerReportIsReplacedAndAnEmptyDirectoryFilled) {
  fs::create_directory(in_scratch("out"));
  write_report(tiny_report(), in_scratch("out"));
  std::ofstream(in_scratch("out") / "energy.png") << "old";
  ReplayReport other = tiny_report();
  other.seed = 99;
  write_report(other, in_scratch("out"));
  EXPECT_EQ(names(in_scratch("out")), without_plots);  // the old plot is gone
  EXPECT_TRUE(contains(contents(in_scratch("out") / "report.json"), "\"seed\": 99"));
  EXPECT_EQ(names(), Names{"out"});
}

TEST_F(ReportDirectory, WhatIsTheUsersIsRefused) {
  const ReplayReport report = tiny_report();
  // With a report inside as well: one strange file is enough.
  write_report(report, in_scratch("out"));
  std::ofstream(in_scratch("out") / "notes.txt") << "mine";
  EXPECT_TRUE(contains(refusal([&] { write_report(report, in_scratch("out")); }), "'notes.txt'"));
  EXPECT_TRUE(contains(refusal([&] { check_report_directory(in_scratch("out")); }), "'notes.txt'"));
  EXPECT_EQ(contents(in_scratch("out") / "notes.txt"), "mine");

  fs::create_directory(in_scratch("fake"));
  std::ofstream(in_scratch("fake") / "report.json") << "{}";
  EXPECT_TRUE(contains(refusal([&] { write_report(report, in_scratch("fake")); }), "not a report"));
  fs::create_directories(in_scratch("nested") / "report.json");
  EXPECT_TRUE(contains(refusal([&] { write_report(report, in_scratch("nested")); }), "'report.json'"));
  std::ofstream(in_scratch("file")) << "mine";
  EXPECT_TRUE(contains(refusal([&] { write_report(report, in_scratch("file")); }), "not a directory"));
  EXPECT_TRUE(contains(refusal([&] { write_report(report, "."); }), "current directory"));
  EXPECT_TRUE(contains(refusal([&] { write_report(report, "/"); }), "root"));
  EXPECT_TRUE(contains(refusal([&] { write_report(report, ""); }), "no name"));
  EXPECT_EQ(names(), (Names{"fake", "file", "nested", "out"}));
  EXPECT_NO_THROW(check_report_directory(in_scratch("new")));
}

TEST_F(ReportDirectory, ErrorsLeaveEverythingAsItWas) {
  write_report(tiny_report(), in_scratch("out"));
  const std::string before = contents(in_scratch("out") / "report.json");
  ReplayReport other = tiny_report();
  other.seed = 99;
  matplotlib_is("raise RuntimeError('the plots broke')\n");
  try {
    write_report(other, in_scratch("out"));
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(contains(error.what(), "tools/plot failed")) << error.what();
    EXPECT_TRUE(contains(error.what(), "the plots broke")) << error.what();
  }
  EXPECT_THROW(write_report(other, in_scratch("new")), std::runtime_error);
  ++other.passes[0].cost.macs;
  EXPECT_THROW(write_report(other, in_scratch("new")), std::logic_error);
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(contents(in_scratch("out") / "report.json"), before);
}

TEST_F(ReportDirectory, SignalsLeaveNothingBehind) {
  write_report(tiny_report(), in_scratch("out"));
  const std::string before = contents(in_scratch("out") / "report.json");
  // A plot that is still writing when the signal comes, and goes on if nobody stops it.
  matplotlib_is(
      "import sys, time\nfor i in range(600):\n"
      "    open(sys.argv[3] + '/energy.png', 'a').write('x')\n    time.sleep(0.05)\n");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        write_report(tiny_report(), in_scratch("out"));
      } catch (...) {
        _exit(3);
      }
      _exit(0);
    }
    const auto drawing = [&] {
      for (const std::string& name : names()) {
        if (name != "out" && fs::exists(in_scratch(name) / "energy.png")) return true;
      }
      return false;
    };
    for (int i = 0; i < 2000 && !drawing(); ++i) usleep(5000);
    EXPECT_TRUE(drawing());
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(names(), Names{"out"});
    usleep(200000);  // time for a forgotten child to write again
    EXPECT_EQ(names(), Names{"out"});
  }
  EXPECT_EQ(contents(in_scratch("out") / "report.json"), before);
}

}  // namespace
}  // namespace mantissa::test

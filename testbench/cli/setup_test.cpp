// tools/setup with stand-ins for dpkg-query, apt-get, sudo and id: nothing is ever installed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

class Setup : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* real : {"bash", "sed", "tr", "env"}) {
      fs::create_symlink(fs::path("/usr/bin") / real, directory_ / real);
    }
    stand_in("apt-get", R"(echo CALLED apt-get "$@")");
    stand_in("dpkg-query", "exit 1");  // knows none of the packages
    stand_in("id", "echo 0");
  }

  void stand_in(const std::string& name, const std::string& body) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  // Only the stand-ins are on its PATH.
  Finished setup(const std::string& options = "") const {
    return run_shell("PATH=" + directory_.string() + " bash " MANTISSA_SOURCE_DIR "/tools/setup " + options);
  }

  Scratch scratch_;
  const fs::path directory_ = scratch_.path();
};

TEST_F(Setup, InstallsWhatIsMissing) {
  const Finished run = setup();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "CALLED apt-get update")) << run.out;
  EXPECT_TRUE(contains(run.out, "CALLED apt-get install")) << run.out;
  EXPECT_TRUE(contains(run.out, "libcli11-dev")) << run.out;
  EXPECT_FALSE(contains(run.out, "libgtest-dev")) << run.out;
  EXPECT_TRUE(contains(setup("--test").out, "libgtest-dev"));
}

TEST_F(Setup, InstallsPyTorchOnlyWhenAsked) {
  EXPECT_FALSE(contains(setup("--test").out, "python3-torch"));
  const Finished torch = setup("--torch");
  EXPECT_EQ(torch.exit_code, 0) << torch.err;
  for (const char* package : {" g++", " python3-torch", " python3-numpy", " dataset-fashion-mnist"}) {
    EXPECT_TRUE(contains(torch.out, package)) << package << " is missing in " << torch.out;
  }
  EXPECT_FALSE(contains(torch.out, "libgtest-dev")) << torch.out;
}

TEST_F(Setup, TakesOptionsTogetherAndNamesEachPackageOnce) {
  const Finished run = setup("--test --torch");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "libgtest-dev")) << run.out;
  EXPECT_TRUE(contains(run.out, "python3-torch")) << run.out;
  const std::string line = run.out.substr(run.out.find("CALLED apt-get install"));
  const std::string shared = "python3-numpy";  // in two lists
  EXPECT_NE(line.find(shared), std::string::npos) << line;
  EXPECT_EQ(line.find(shared), line.rfind(shared)) << line;
}

TEST_F(Setup, InstallsOnlyThat) {
  stand_in("dpkg-query", "echo installed g++; echo config-files cmake; exit 1");
  const Finished run = setup();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(contains(run.out, " g++")) << run.out;
  EXPECT_TRUE(contains(run.out, " cmake")) << run.out;  // removed, only its configuration is left
}

TEST_F(Setup, DoesNothingWhenAllIsThere) {
  // As dpkg-query does with -W -f FORMAT PACKAGE...
  stand_in("dpkg-query", R"(shift 2; for package in "$@"; do echo installed "$package"; done)");
  const Finished run = setup("--test");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(contains(run.out, "CALLED")) << run.out;
}

TEST_F(Setup, UsesSudoOrSaysWhatRootMustDo) {
  stand_in("id", "echo 1000");
  const Finished alone = setup();
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_FALSE(contains(alone.out, "CALLED")) << alone.out;
  EXPECT_TRUE(contains(alone.err, "apt-get install g++")) << alone.err;
  stand_in("sudo", R"(echo CALLED sudo; "$@")");
  const Finished helped = setup();
  EXPECT_EQ(helped.exit_code, 0) << helped.err;
  EXPECT_TRUE(contains(helped.out, "CALLED sudo\nCALLED apt-get update")) << helped.out;
}

TEST_F(Setup, ExplainsFailures) {
  EXPECT_TRUE(contains(setup("--tests").err, "allowed: --test"));
  stand_in("apt-get", R"([ "$1" = update ] && exit 100)");
  const Finished offline = setup();
  EXPECT_EQ(offline.exit_code, 1);
  EXPECT_TRUE(contains(offline.err, "network")) << offline.err;
  fs::remove(directory_ / "apt-get");
  const Finished elsewhere = setup();
  EXPECT_EQ(elsewhere.exit_code, 1);
  EXPECT_TRUE(contains(elsewhere.err, "not a Debian system")) << elsewhere.err;
}

}  // namespace
}  // namespace mantissa::test

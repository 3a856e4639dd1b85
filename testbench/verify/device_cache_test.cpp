// The cache of compiled devices: it removes only what is its own, and loads only what nobody else could have
// written.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

class DeviceCacheTest : public testing::Test {
 protected:
  Finished verify(const std::string& settings) const {
    return run_shell("cd " + scratch_.path() + " && env " + settings +
                     " mantissa verify lfsr --config leap16 --vectors 100");
  }
  fs::path directory() const { return cache_ / ("mantissa-devices-" + std::to_string(::geteuid())); }
  std::string here() const { return "MANTISSA_CACHE=" + cache_.string(); }

  Scratch scratch_;
  const fs::path cache_ = fs::path(scratch_.path()) / "cache";
};

TEST_F(DeviceCacheTest, NothingOfOthersIsRemoved) {
  fs::create_directories(fs::path(scratch_.path()) / "build-release/sub");
  std::ofstream(fs::path(scratch_.path()) / "build-release/mine") << "mine";
  const Finished run =
      run_shell("cd " + scratch_.path() +
                " && touch -d '3 days ago' build-release && MANTISSA_CACHE=. mantissa verify lfsr --config "
                "leap16 --vectors 100");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(contents(fs::path(scratch_.path()) / "build-release/mine"), "mine");
}

TEST_F(DeviceCacheTest, DirectoryThatItDidNotMakeIsRefused) {
  fs::create_directories(directory());
  fs::permissions(directory(), fs::perms::owner_all);
  std::ofstream(directory() / "notes.txt") << "mine";
  const Finished run = verify(here());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "was not made by this program")) << run.err;
}

TEST_F(DeviceCacheTest, DirectoryOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  fs::create_directories(directory());
  fs::permissions(directory(), fs::perms::owner_all);
  ASSERT_EQ(::chown(directory().c_str(), 65534, 65534), 0);
  const Finished run = verify(here());
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_TRUE(contains(run.err, "belongs to another user")) << run.err;
}

TEST_F(DeviceCacheTest, LinksAreNotFollowed) {
  const fs::path elsewhere = fs::path(scratch_.path()) / "elsewhere";
  fs::create_directories(elsewhere);
  fs::permissions(elsewhere, fs::perms::owner_all);
  fs::create_directories(cache_);
  fs::create_directory_symlink(elsewhere, directory());
  EXPECT_EQ(verify(here()).exit_code, 2);
  // Without a home, in the directory for temporary files.
  fs::create_directory_symlink(elsewhere,
                               fs::path(scratch_.path()) / ("mantissa-cache-" + std::to_string(::geteuid())));
  EXPECT_EQ(verify("-u HOME -u XDG_CACHE_HOME -u MANTISSA_CACHE TMPDIR=" + scratch_.path()).exit_code, 2);
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

// With data that no devices were compiled for: everything comes from the cache.
TEST_F(DeviceCacheTest, GivesBackOnlyWhatWasCompiled) {
  const fs::path data = fs::path(scratch_.path()) / "data";
  fs::create_directory(data);
  for (const char* part : {"sim", "rtl"})
    fs::create_directory_symlink(fs::path(MANTISSA_SOURCE_DIR) / part, data / part);
  const std::string settings = here() + " MANTISSA_DATA=" + data.string();
  ASSERT_EQ(verify(settings).exit_code, 0);
  int changed = 0;
  for (const auto& entry : fs::directory_iterator(directory())) {
    if (entry.path().extension() != ".so") continue;
    std::ofstream(entry.path()) << "not an object";
    ++changed;
  }
  EXPECT_EQ(changed, 1);
  fs::create_directories(directory() / "build-1-0/sub");  // of a killed run
  const Finished again = verify(settings);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_FALSE(fs::exists(directory() / "build-1-0"));

  fs::permissions(directory(), fs::perms::all);
  const Finished open = verify(settings);
  EXPECT_EQ(open.exit_code, 2) << open.out;
  EXPECT_TRUE(contains(open.err, "is open to other users")) << open.err;
}

}  // namespace
}  // namespace mantissa::test

#include "sim/support/draft_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "sim/support/ending_signals.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// A lock among publishing runs. Best effort: where a directory cannot be locked, or somebody keeps the lock
// for more than a second (as `flock DIRECTORY mantissa ...` would), the run goes on without it.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory)
      : descriptor_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int tries = 200;
    constexpr useconds_t pause = 5000;
    for (int i = 0; i < tries && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++i) {
      if (errno != EWOULDBLOCK && errno != EINTR) break;
      ::usleep(pause);
    }
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_;
};

[[noreturn]] void fail(const std::string& action, const std::string& path, const std::string& reason) {
  throw std::runtime_error("cannot " + action + " " + path + ": " + reason);
}

// The file that writing to `path` would change.
std::string target_of(const std::string& path) {
  std::error_code unknown;  // what cannot be examined cannot be created either, and says why then
  const fs::file_status status = fs::status(path, unknown);
  if (fs::is_directory(status)) fail("create", path, "it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("create", path, "it is not a regular file");
  fs::path target = path;
  constexpr int most_links = 40;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, unknown)); ++links) {
    if (links == most_links) fail("create", path, std::strerror(ELOOP));
    target = target.parent_path() / fs::read_symlink(target);
  }
  return target.string();
}

std::string directory_of(const std::string& path) {
  const fs::path directory = fs::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

}  // namespace

DraftFile::DraftFile(std::string path)
    : path_(std::move(path)), target_(target_of(path_)), output_(-1, path_) {
  const SignalsHeld held;  // between making the draft and noting its name
  for (int number = 0; descriptor_ < 0; ++number) {
    draft_ = directory_of(target_) + "/.mantissa-" + std::to_string(::getpid()) + "-" +
             std::to_string(number) + ".tmp";
    descriptor_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail("create", path_, std::strerror(errno));
  }
  output_ = Output(descriptor_, path_);
  removed_.emplace(draft_);
}

DraftFile::~DraftFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (draft_.empty()) return;
  ::unlink(draft_.c_str());
  removed_.reset();
}

void DraftFile::finish() {
  output_.flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, std::strerror(errno));
}

void DraftFile::rename() {
  if (std::rename(draft_.c_str(), target_.c_str()) != 0) fail("create", path_, std::strerror(errno));
  removed_.reset();
  draft_.clear();
}

void DraftFile::publish() {
  finish();
  const SignalsHeld held;  // between renaming and forgetting the draft's name
  rename();
}

void DraftFile::publish(DraftFile& first, DraftFile& second) {
  first.finish();
  second.finish();
  const DirectoryLock turn(directory_of(first.target_));
  const SignalsHeld held;  // between the two renames
  first.rename();
  try {
    second.rename();
  } catch (...) {
    ::unlink(first.target_.c_str());
    throw;
  }
}

}  // namespace mantissa

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

std::string directory_of(const std::string& path) {
  const fs::path directory = fs::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

}  // namespace

std::string written_file(const std::string& path) {
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

DraftFile::DraftFile(std::string path)
    : path_(std::move(path)), target_(written_file(path_)), output_(-1, path_) {
  remove_stale_drafts(directory_of(target_));
  const SignalsHeld held;  // between making the draft and noting its name
  try {
    make();
    output_ = Output(descriptor_, path_);
    removed_.emplace(draft_);
  } catch (...) {
    if (descriptor_ >= 0) {
      ::unlink(draft_.c_str());
      ::close(descriptor_);
    }
    throw;
  }
}

void DraftFile::make() {
  for (int number = 0; descriptor_ < 0; ++number) {
    draft_ = directory_of(target_) + "/" + draft_name(number);
    descriptor_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail("create", path_, std::strerror(errno));
    if (descriptor_ >= 0 && !keep_draft(descriptor_)) ::close(std::exchange(descriptor_, -1));
  }
}

DraftFile::~DraftFile() {
  if (!draft_.empty()) ::unlink(draft_.c_str());
  removed_.reset();
  // After fsync it has nothing left to tell; before it, the draft is gone.
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DraftFile::finish() {
  output_.flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("write", path_, std::strerror(errno));
}

void DraftFile::rename() {
  if (std::rename(draft_.c_str(), target_.c_str()) != 0) fail("create", path_, std::strerror(errno));
  removed_.reset();
  draft_.clear();
}

void DraftFile::exchange() {
  holds_former_ = ::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
  if (holds_former_) return;
  // No such file before, or a file system that cannot exchange.
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) fail("create", path_, std::strerror(errno));
  rename();
}

void DraftFile::take_back() {
  if (holds_former_) {
    std::rename(draft_.c_str(), target_.c_str());
  } else {
    ::unlink(target_.c_str());
  }
}

void DraftFile::publish() {
  finish();
  const SignalsHeld held;  // between renaming and forgetting the draft's name
  rename();
  sync_directory(directory_of(target_));
}

void DraftFile::publish(DraftFile& first, DraftFile& second) {
  first.finish();
  second.finish();
  const DirectoryLock turn(directory_of(first.target_));
  const SignalsHeld held;  // between the two renames
  first.exchange();
  try {
    second.rename();
  } catch (...) {
    first.take_back();
    throw;
  }
  sync_directory(directory_of(first.target_));
  sync_directory(directory_of(second.target_));
}

}  // namespace mantissa

#include "sim/support/draft_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

// What the signal handler removes. Lock-free, so that a handler may read it.
std::array<std::atomic<const char*>, 4> live_drafts{};
static_assert(std::atomic<const char*>::is_always_lock_free);

extern "C" void remove_drafts_and_die(int signal) {
  for (const auto& draft : live_drafts) {
    const char* path = draft.load();
    if (path != nullptr) ::unlink(path);
  }
  // SA_RESETHAND has restored the default action, which follows as soon as this handler returns.
  ::raise(signal);
}

// A signal that was ignored at the start (nohup) stays ignored.
void catch_ending_signals() {
  for (const int signal : ending_signals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_drafts_and_die;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int other : ending_signals) sigaddset(&action.sa_mask, other);
    ::sigaction(signal, &action, nullptr);
  }
}

// Holds the ending signals back for its lifetime.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : ending_signals) sigaddset(&held, signal);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

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
  catch_ending_signals();
  const SignalsHeld held;  // between making the draft and noting its name
  for (int number = 0; descriptor_ < 0; ++number) {
    draft_ = directory_of(target_) + "/.mantissa-" + std::to_string(::getpid()) + "-" +
             std::to_string(number) + ".tmp";
    descriptor_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail("create", path_, std::strerror(errno));
  }
  output_ = Output(descriptor_, path_);
  for (auto& draft : live_drafts) {
    const char* free = nullptr;
    if (draft.compare_exchange_strong(free, draft_.c_str())) break;
  }
}

DraftFile::~DraftFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (draft_.empty()) return;
  ::unlink(draft_.c_str());
  forget();
}

void DraftFile::finish() {
  output_.flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, std::strerror(errno));
}

void DraftFile::rename() {
  if (std::rename(draft_.c_str(), target_.c_str()) != 0) fail("create", path_, std::strerror(errno));
  forget();
  draft_.clear();
}

void DraftFile::forget() {
  for (auto& draft : live_drafts) {
    const char* own = draft_.c_str();
    draft.compare_exchange_strong(own, nullptr);
  }
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

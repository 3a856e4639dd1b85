#include "sim/support/ending_signals.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace mantissa {
namespace {

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

// What the signal handler ends and removes. Lock-free, so that a handler may read it.
std::array<std::atomic<const char*>, 8> unfinished_paths{};
std::array<std::atomic<pid_t>, 8> running_children{};
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

// Only calls that a handler may make: readdir allocates memory, the system call below it does not.
void remove_flat_directory(const char* path) {
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  alignas(dirent64) std::array<char, 4096> buffer{};
  constexpr int most_rounds = 64;  // whatever cannot be removed must not keep the program alive
  for (int round = 0; round < most_rounds; ++round) {
    const long got = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const char* entry = buffer.data() + at;
      unsigned short length = 0;
      std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof length);
      ::unlinkat(directory, entry + offsetof(dirent64, d_name), 0);  // refused for "." and ".."
      at += length;
    }
    ::lseek(directory, 0, SEEK_SET);
    if (::rmdir(path) == 0) break;
  }
  ::close(directory);
}

extern "C" void clean_up_and_die(int signal) {
  for (const auto& child : running_children) {
    const pid_t process = child.load();
    if (process <= 0) continue;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  for (const auto& unfinished : unfinished_paths) {
    const char* path = unfinished.load();
    if (path == nullptr) continue;
    if (::unlink(path) != 0) remove_flat_directory(path);
  }
  // SA_RESETHAND has restored the default action, which follows as soon as this handler returns.
  ::raise(signal);
}

// A signal that was ignored at the start (nohup) stays ignored.
void catch_ending_signals() {
  for (const int signal : ending_signals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = clean_up_and_die;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int other : ending_signals) sigaddset(&action.sa_mask, other);
    ::sigaction(signal, &action, nullptr);
  }
}

template <typename Value, std::size_t Count>
void note(std::array<std::atomic<Value>, Count>& notes, Value value) {
  for (auto& entry : notes) {
    Value free{};
    if (entry.compare_exchange_strong(free, value)) return;
  }
}

template <typename Value, std::size_t Count>
void forget(std::array<std::atomic<Value>, Count>& notes, Value value) {
  for (auto& entry : notes) {
    Value own = value;
    if (entry.compare_exchange_strong(own, Value{})) return;
  }
}

}  // namespace

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : ending_signals) sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

RemovedAtSignal::RemovedAtSignal(const std::string& path) : path_(path.c_str()) {
  catch_ending_signals();
  note(unfinished_paths, path_);
}

void RemovedAtSignal::release() {
  if (path_ != nullptr) forget(unfinished_paths, path_);
  path_ = nullptr;
}

KilledAtSignal::KilledAtSignal(pid_t child) : child_(child) { note(running_children, child_); }
KilledAtSignal::~KilledAtSignal() { forget(running_children, child_); }

}  // namespace mantissa

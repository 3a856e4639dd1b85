#include "sim/support/ending_signals.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "sim/support/remove_tree.hpp"
#include "sim/support/signal_notes.hpp"

namespace mantissa {
namespace {

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

// What the signal handler ends and removes.
SignalNotes<const char*>& unfinished_paths() {
  static constinit SignalNotes<const char*> notes;
  return notes;
}
SignalNotes<pid_t>& running_groups() {
  static constinit SignalNotes<pid_t> notes;
  return notes;
}
std::atomic<bool> ending{false};

// Whatever changes the notes while a handler reads them waits for the end of the program: the handler may
// still need the memory behind a note, and would miss a new one.
void stay_if_ending() {
  while (ending.load()) ::pause();
}

// Every process of the group becomes a child of this one as its parents die, and a dead one writes no more.
void end_group(pid_t group) noexcept {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::kill(-group, SIGKILL);
  while (::waitpid(-group, nullptr, 0) > 0 || errno == EINTR) {
  }
}

extern "C" void clean_up_and_die(int signal) {
  end_children_and_drafts();
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

}  // namespace

void end_children_and_drafts() noexcept {
  ending.store(true);
  running_groups().for_each(end_group);
  unfinished_paths().for_each([](const char* path) { remove_tree(AT_FDCWD, path); });
}

void forget_parents_notes() noexcept {
  running_groups().clear();
  unfinished_paths().clear();
  for (const int signal : ending_signals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == clean_up_and_die)
      ::signal(signal, SIG_DFL);
  }
}

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : ending_signals) sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

RemovedAtSignal::RemovedAtSignal(const std::string& path) : path_(path.c_str()) {
  catch_ending_signals();
  unfinished_paths().add(path_);
  stay_if_ending();
}

void RemovedAtSignal::release() {
  if (path_ == nullptr) return;
  unfinished_paths().remove(path_);
  stay_if_ending();
  path_ = nullptr;
}

KilledAtSignal::KilledAtSignal(pid_t group) : group_(group) {
  catch_ending_signals();
  running_groups().add(group_);
  stay_if_ending();
}

KilledAtSignal::~KilledAtSignal() {
  running_groups().remove(group_);
  stay_if_ending();
}

}  // namespace mantissa

// What must not outlive the program when a signal ends it: unfinished files and directories, and the programs
// that are still writing into them.
#pragma once

#include <csignal>
#include <string>

namespace mantissa {

// Holds the signals that end a program (INT, TERM, HUP) back for its lifetime, in this thread.
class SignalsHeld {
 public:
  SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld();

  // The signals that were held before, for a child that must not inherit ours.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// While it lives, an ending signal removes the file, or the directory with all that is in it, before the
// program dies of it. The path must stay as it is for that long.
class RemovedAtSignal {
 public:
  explicit RemovedAtSignal(const std::string& path);
  RemovedAtSignal(const RemovedAtSignal&) = delete;
  RemovedAtSignal& operator=(const RemovedAtSignal&) = delete;
  ~RemovedAtSignal() { release(); }

  // From here on it stays.
  void release();

 private:
  const char* path_;
};

// While it lives, an ending signal first kills the child and all that it has started: the process group that
// it leads. A terminal's ^C does not reach that group, so that the order is ours in any case.
class KilledAtSignal {
 public:
  explicit KilledAtSignal(pid_t group);
  KilledAtSignal(const KilledAtSignal&) = delete;
  KilledAtSignal& operator=(const KilledAtSignal&) = delete;
  ~KilledAtSignal();

 private:
  pid_t group_;
};

// Kills what is noted and removes what is noted, for a program that ends itself at once.
void end_children_and_drafts() noexcept;

// In a child right after fork: what its parent has noted is not the child's to remove, and signals end it as
// they end any program.
void forget_parents_notes() noexcept;

}  // namespace mantissa

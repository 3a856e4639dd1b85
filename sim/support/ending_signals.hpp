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

// While it lives, an ending signal removes the file, or the directory with the files directly in it, before
// the program dies of it. The path must stay as it is for that long.
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

// While it lives, an ending signal kills the child first.
class KilledAtSignal {
 public:
  explicit KilledAtSignal(pid_t child);
  KilledAtSignal(const KilledAtSignal&) = delete;
  KilledAtSignal& operator=(const KilledAtSignal&) = delete;
  ~KilledAtSignal();

 private:
  pid_t child_;
};

}  // namespace mantissa

// Kills a program at some moment and looks for what it has left running.
#pragma once

#include <chrono>
#include <string>

namespace mantissa::test {

struct Killed {
  bool in_time = false;      // it died of the signal, not before it
  std::string left_running;  // command lines of processes that outlive it by more than five seconds
};

// Runs `script` in bash with the program on its PATH; it should end in `exec mantissa ...`, so that the
// signal reaches the program. All that it starts is known by a variable of its environment.
Killed kill_after(const std::string& script, std::chrono::milliseconds delay, int signal);

}  // namespace mantissa::test

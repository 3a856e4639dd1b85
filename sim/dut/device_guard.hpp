// A device in the program's own process, as the simulated accelerator has it: where it hangs, crashes or ends
// the program, that is a failed check, and says so. (`verify` gives a device a process of its own.)
#pragma once

#include <string>

#include "sim/dut/watchdog.hpp"

namespace mantissa {

class DeviceGuard {
 public:
  struct Options {
    Watchdog::Seconds limit{60};  // for one call of a device
    std::string again = {};       // the command that repeats the run
    int exit_code = 1;            // of a program that a device has ended
  };
  // One at a time.
  explicit DeviceGuard(const Options& options);
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard();

 private:
  Watchdog watchdog_;
};

}  // namespace mantissa

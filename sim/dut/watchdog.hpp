// Notices a device that does not come back from a call: a loop without end in an `initial` block or inside of
// one evaluation, which no limit on clock cycles can see.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mantissa {

class Device;

// While it lives, the program is inside of a device's code. Devices are called from one thread.
class DeviceCall {
 public:
  // nullptr: the device has no pins yet, or no longer.
  explicit DeviceCall(const Device* device) {
    device_.store(device, std::memory_order_relaxed);
    step();  // even to odd
  }
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;
  ~DeviceCall() { step(); }

  static bool inside() { return steps_.load(std::memory_order_acquire) % 2 == 1; }
  // What reports a hang says of its time; the bench counts cycles.
  static void at_cycle(std::uint64_t cycle) { cycle_.store(cycle, std::memory_order_relaxed); }

 private:
  friend class Watchdog;
  // Release: who sees the count sees the pins that were set before.
  static void step() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  static inline std::atomic<std::uint64_t> steps_{0};  // odd: inside of a call
  static inline std::atomic<const Device*> device_{nullptr};
  static inline std::atomic<std::uint64_t> cycle_{0};
};

struct Hang {
  std::string what;
  std::uint64_t cycle = 0;
  std::vector<std::pair<std::string, std::string>> inputs;  // the device's pins, in hexadecimal
};

class Watchdog {
 public:
  using Seconds = std::chrono::duration<double>;
  // `report` runs in a thread of its own while the device still hangs, and must end the process.
  Watchdog(Seconds limit, std::function<void(const Hang&)> report);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  void watch();
  Hang hang() const;

  Seconds limit_;
  std::function<void(const Hang&)> report_;
  std::mutex turn_;
  std::condition_variable ends_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace mantissa

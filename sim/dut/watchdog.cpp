#include "sim/dut/watchdog.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>

#include "sim/dut/device.hpp"

namespace mantissa {

Watchdog::Watchdog(Seconds limit, std::function<void(const Hang&)> report)
    : limit_(limit), report_(std::move(report)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(turn_);
    over_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the other threads' business
  std::uint64_t seen = 0;
  Clock::time_point since = Clock::now();
  std::unique_lock lock(turn_);
  while (!ends_.wait_for(lock, std::min(limit_ / 4, Seconds(0.25)), [this] { return over_; })) {
    const std::uint64_t steps = DeviceCall::steps_.load(std::memory_order_acquire);
    const bool inside = steps % 2 == 1;
    if (!inside || steps != seen) {
      seen = steps;
      since = Clock::now();
    } else if (Clock::now() - since >= limit_) {
      report_(hang());
      return;
    }
  }
}

// The device's inputs do not change during a call.
Hang Watchdog::hang() const {
  std::ostringstream what;
  what << "the device has not come back from a call for " << limit_.count() << " s: it hangs (--timeout)";
  Hang hang{.what = what.str(), .cycle = DeviceCall::cycle_.load(), .inputs = {}};
  const Device* const device = DeviceCall::device_.load();
  if (device == nullptr) return hang;
  for (const Device::Pin& pin : device->pins()) {
    if (!pin.output) hang.inputs.emplace_back(pin.name, pin.get().hex());
  }
  return hang;
}

}  // namespace mantissa

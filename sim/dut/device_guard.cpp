#include "sim/dut/device_guard.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "sim/support/ending_signals.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

constexpr std::array<int, 5> crashes = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// What the handlers need; they may neither allocate nor wait.
struct Last {
  std::atomic<bool> active{false};
  int exit_code = 1;
  std::string again;  // with its line's end
  std::array<struct sigaction, crashes.size()> before{};
  std::array<char, std::size_t{64} << 10> stack{};  // of a device that has used up its own
};
Last& last() {
  static Last instance;
  return instance;
}

void say(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;  // the verdict does not depend on who reads
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void end_program(std::string_view what) noexcept {
  say(what);
  say(last().again);
  end_children_and_drafts();
  ::_exit(last().exit_code);
}

bool is_the_devices() noexcept { return last().active && DeviceCall::inside(); }

void at_exit() {
  if (is_the_devices()) end_program("MISMATCH: the device ended the simulation\n");
}

extern "C" void at_crash(int signal) {
  if (is_the_devices()) end_program("MISMATCH: the device ended the simulation by a crash\n");
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    if (crashes[i] == signal) ::sigaction(signal, &last().before[i], nullptr);
  }
  ::raise(signal);
}

[[noreturn]] void report(const Hang& hang) {
  std::string text = "MISMATCH: " + hang.what + "\n";
  for (const auto& [pin, value] : hang.inputs)
    text.append("  ").append(pin).append(" = ").append(value).append("\n");
  end_program(printable_lines(text));
}

void catch_crashes() {
  const stack_t own{.ss_sp = last().stack.data(), .ss_flags = 0, .ss_size = last().stack.size()};
  ::sigaltstack(&own, nullptr);
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = at_crash;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(crashes[i], &action, &last().before[i]);
  }
}

Watchdog::Seconds prepared(const DeviceGuard::Options& options) {
  last().exit_code = options.exit_code;
  // After last() was made: what is registered later is called first.
  [[maybe_unused]] static const int registered = std::atexit(at_exit);
  last().again = options.again.empty() ? "" : "  again: " + printable(options.again) + "\n";
  catch_crashes();
  last().active = true;
  return options.limit;
}

}  // namespace

DeviceGuard::DeviceGuard(const Options& options) : watchdog_(prepared(options), report) {}

DeviceGuard::~DeviceGuard() {
  last().active = false;
  for (std::size_t i = 0; i < crashes.size(); ++i) ::sigaction(crashes[i], &last().before[i], nullptr);
}

}  // namespace mantissa

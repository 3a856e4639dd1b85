#include "testbench/cli/kill_harness.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <thread>

#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

// A zombie has no environment.
std::string processes_with(const std::string& mark) {
  std::string found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string number = entry.path().filename();
    if (!std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      continue;
    if (contents(entry.path() / "environ").find(mark) == std::string::npos) continue;
    std::string command = contents(entry.path() / "cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    found.append(number).append(": ").append(command).append("\n");
  }
  return found;
}

}  // namespace

Killed kill_after(const std::string& script, std::chrono::milliseconds delay, int signal) {
  static std::atomic<int> count{0};
  const std::string mark =
      "MANTISSA_KILL_TEST=" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-";
  const std::string command =
      "export " + mark + "; PATH=" + fs::path(MANTISSA_PROGRAM).parent_path().string() + ":$PATH; " + script;
  const pid_t process = ::fork();
  if (process == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1, 2}) ::dup2(nothing, descriptor);
    ::execl("/bin/bash", "bash", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::this_thread::sleep_for(delay);
  ::kill(process, signal);
  int status = 0;
  ::waitpid(process, &status, 0);
  Killed killed{.in_time = WIFSIGNALED(status) && WTERMSIG(status) == signal, .left_running = {}};
  for (int i = 0; i < 500; ++i) {
    killed.left_running = processes_with(mark);
    if (killed.left_running.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return killed;
}

}  // namespace mantissa::test

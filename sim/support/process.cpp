#include "sim/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "sim/support/ending_signals.hpp"

namespace mantissa {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe: " + std::string(std::strerror(errno)));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends_[0]);
    close_write_end();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write_end() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::none_of(settings.begin(), settings.end(),
                     [name](const std::string& setting) { return setting.starts_with(name); }))
      all.emplace_back(text);
  }
  return all;
}

// ------------------------------------------------------------------------------------------------ minder

// Between the program and a tool stands a process that leads a group of all that the tool starts. It ends the
// group when the program is gone, even killed: the other end of `life` is then closed.
struct Minder {
  char* const* arguments;
  char* const* environment;
  const sigset_t* signals;  // that the tool holds back
  int life;
  int output;
  int trouble;  // takes the error number where the tool cannot be started
};

void close_all_but(int one, int other) {
  const auto [low, high] = std::minmax(one, other);
  const auto close_between = [](int first, int last) {
    if (first <= last) close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
  };
  close_between(3, low - 1);
  close_between(std::max(3, low + 1), high - 1);
  close_range(static_cast<unsigned>(std::max(3, high + 1)), ~0U, 0);
}

extern "C" void wake_up(int /*signal*/) {}

// Runs in a forked process of a program that may have threads: no memory is allocated.
[[noreturn]] void mind(const Minder& minder) {
  setpgid(0, 0);
  forget_parents_notes();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(minder.output, STDOUT_FILENO);
  dup2(minder.output, STDERR_FILENO);
  close_all_but(minder.life, minder.trouble);

  struct sigaction action {};
  action.sa_handler = wake_up;
  sigaction(SIGCHLD, &action, nullptr);
  sigset_t child_ends;
  sigemptyset(&child_ends);
  sigaddset(&child_ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ends, nullptr);  // but while it waits

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, minder.signals);
  pid_t tool = 0;
  const int error =
      posix_spawnp(&tool, minder.arguments[0], nullptr, &attributes, minder.arguments, minder.environment);
  if (error != 0) {
    if (write(minder.trouble, &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  // The output must end with the tool.
  dup2(STDIN_FILENO, STDOUT_FILENO);
  dup2(STDIN_FILENO, STDERR_FILENO);

  sigset_t waiting = *minder.signals;
  sigdelset(&waiting, SIGCHLD);
  for (;;) {
    int status = 0;
    if (waitpid(tool, &status, WNOHANG) == tool) _exit(exit_code_of(status));
    pollfd life{minder.life, POLLIN, 0};
    if (ppoll(&life, 1, nullptr, &waiting) > 0) kill(0, SIGKILL);
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& settings) {
  const std::vector<std::string> variables = environment_with(settings);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);
  Pipe life;
  Pipe output;
  Pipe trouble;
  pid_t child = 0;
  std::optional<KilledAtSignal> killed;
  {
    const SignalsHeld held;  // between starting it and noting its number
    child = fork();
    if (child == 0) {
      mind({argv.data(), envp.data(), &held.before(), life.read_end(), output.write_end(),
            trouble.write_end()});
    }
    if (child > 0) {
      setpgid(child, child);  // it may not have come so far
      killed.emplace(child);
    }
  }
  if (child < 0) throw std::runtime_error("cannot run " + arguments.front() + ": " + std::strerror(errno));
  output.close_write_end();
  trouble.close_write_end();
  ProcessResult result;
  result.output = read_all(output.read_end());
  result.exit_code = wait_for(child);
  int error = 0;
  if (read(trouble.read_end(), &error, sizeof error) == sizeof error)
    throw std::runtime_error("cannot run " + arguments.front() + ": " + std::strerror(error));
  return result;
}

}  // namespace mantissa

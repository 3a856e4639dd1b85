#include "sim/verify/isolated.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "sim/support/ending_signals.hpp"

namespace mantissa::verify {
namespace {

// Messages are lines: a letter, then text. P progress, R result, I invalid argument, E other error.
void send(int descriptor, char kind, std::string text) {
  for (char& c : text) {
    if (c == '\n') c = '\x1e';  // a record separator stands for a line's end
  }
  const std::string line = kind + text + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t wrote = write(descriptor, line.data() + sent, line.size() - sent);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    sent += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void child(pid_t parent, const sigset_t& signals, int descriptor, const IsolatedWork& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the result
  if (getppid() != parent) _exit(1);
  // A group of its own, for a device may start programs; it must not wait for the terminal there.
  setpgid(0, 0);
  forget_parents_notes();
  std::signal(SIGTTOU, SIG_IGN);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what the device prints is not part of a report
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  try {
    const ReportProgress progress = [descriptor](std::uint64_t done, std::uint64_t total) {
      send(descriptor, 'P', std::to_string(done) + " " + std::to_string(total));
    };
    const EndWith end_with = [descriptor](const std::string& result) {
      send(descriptor, 'R', result);
      _exit(0);
    };
    send(descriptor, 'R', work(progress, end_with));
  } catch (const std::invalid_argument& error) {
    send(descriptor, 'I', error.what());
  } catch (const std::exception& error) {
    send(descriptor, 'E', error.what());
  }
  std::fflush(nullptr);
  _exit(0);
}

class Messages {
 public:
  explicit Messages(const ReportProgress& progress) : progress_(progress) {}

  void take(std::string_view bytes) {
    for (const char c : bytes) {
      if (c != '\n') {
        line_ += c == '\x1e' ? '\n' : c;
        continue;
      }
      if (line_.front() == 'P') {
        report_progress();
      } else {
        last_ = line_;
      }
      line_.clear();
    }
  }
  const std::string& last() const { return last_; }

 private:
  void report_progress() {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    const auto [at, error] = std::from_chars(line_.data() + 1, line_.data() + line_.size(), done);
    std::from_chars(at + 1, line_.data() + line_.size(), total);
    if (error == std::errc()) progress_(done, total);
  }

  const ReportProgress& progress_;
  std::string line_;
  std::string last_;
};

}  // namespace

std::string run_isolated(const IsolatedWork& work, const ReportProgress& progress) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe: " + std::string(std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t self = getpid();
  pid_t process = 0;
  std::optional<KilledAtSignal> killed;
  {
    const SignalsHeld held;  // between starting it and noting its number
    process = fork();
    if (process == 0) {
      close(ends[0]);
      child(self, held.before(), ends[1], work);
    }
    if (process > 0) {
      setpgid(process, process);  // it may not have come so far
      killed.emplace(process);
    }
  }
  if (process < 0) throw std::runtime_error("cannot fork: " + std::string(std::strerror(errno)));
  close(ends[1]);
  Messages messages(progress);
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    messages.take({buffer.data(), static_cast<std::size_t>(got)});
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string& last = messages.last();
  if (last.empty()) {
    throw ProcessDied(WIFSIGNALED(status)
                          ? "the device ended the simulation with signal " + std::to_string(WTERMSIG(status))
                          : "the device ended the simulation with exit code " +
                                std::to_string(WEXITSTATUS(status)));
  }
  if (last.front() == 'I') throw std::invalid_argument(last.substr(1));
  if (last.front() == 'E') throw std::runtime_error(last.substr(1));
  return last.substr(1);
}

}  // namespace mantissa::verify

#include "testbench/cli/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    // Closed in children of other threads: a test that waits for the end of a file must not wait for them.
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
};

int spawn(const std::vector<std::string>& command, int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (err >= 0) posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  // We ignore SIGPIPE; the program must cope with it by itself.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  int process = -1;
  const int failure = posix_spawn(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " + command[0]);
  return process;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (ssize_t got = 0; (got = ::read(descriptor, chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return text;
}

// A program that stops reading early is no failure of the test.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int exit_code_of(int process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Finished run(const std::vector<std::string>& command, std::string_view input) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe in;
  const Pipe out;
  const Pipe err;
  const int process = spawn(command, in.read_end, out.write_end, err.write_end);
  for (const int end : {in.read_end, out.write_end, err.write_end}) ::close(end);
  Finished finished;
  std::thread writer([&] {
    write_all(in.write_end, input);
    ::close(in.write_end);
  });
  std::thread error_reader([&] { finished.err = read_all(err.read_end); });
  finished.out = read_all(out.read_end);
  writer.join();
  error_reader.join();
  finished.exit_code = exit_code_of(process);
  return finished;
}

std::vector<std::string> program_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{MANTISSA_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

Finished run_mantissa(const std::vector<std::string>& arguments, std::string_view input) {
  return run(program_with(arguments), input);
}

Finished run_shell(const std::string& script) {
  const std::string directory = std::filesystem::path(MANTISSA_PROGRAM).parent_path().string();
  return run({"/bin/bash", "-c", "PATH=" + directory + ":$PATH; " + script}, {});
}

Finished run_in_scratch(const std::string& script) {
  const Scratch scratch;
  return run_shell("cd '" + scratch.path() + "'; " + script);
}

Conversation::Conversation(const std::vector<std::string>& arguments) {
  const Pipe in;
  const Pipe out;
  process_ = spawn(program_with(arguments), in.read_end, out.write_end, -1);
  ::close(in.read_end);
  ::close(out.write_end);
  to_program_ = in.write_end;
  from_program_ = out.read_end;
}

Conversation::~Conversation() {
  ::close(to_program_);
  ::close(from_program_);
  exit_code_of(process_);
}

void Conversation::say(std::string_view text) const { write_all(to_program_, text); }

std::string Conversation::hear() const {
  std::string text;
  constexpr int ten_seconds = 10000;
  for (pollfd waiting{from_program_, POLLIN, 0}; ::poll(&waiting, 1, ten_seconds) > 0;) {
    char c = 0;
    if (::read(from_program_, &c, 1) != 1 || c == '\n') break;
    text += c;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string hex(std::uint32_t code, int digits) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), "%0*x", digits, code);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace mantissa::test

// `mantissa`: reads the command line, runs one subcommand, turns errors into a message and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "sim/cli/commands.hpp"
#include "sim/cli/usage.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/support/ending_signals.hpp"
#include "sim/support/output.hpp"
#include "sim/support/user_text.hpp"

namespace {

constexpr int exit_checks_failed = 1;
constexpr int exit_bad_input = 2;

int fail(const std::string& message) {
  // Whatever the message quotes.
  constexpr std::size_t longest = 2000;
  mantissa::tell_user("mantissa: error: " +
                      mantissa::shortened_in_the_middle(mantissa::printable(message), longest));
  return exit_bad_input;
}

// The verdict stands, whatever became of its text.
int failed_checks() {
  try {
    mantissa::check_standard_output();
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  return exit_checks_failed;
}

int fail_without_memory() {
  std::fputs("mantissa: error: there is not enough memory\n", stderr);
  return exit_bad_input;
}

// Destructors of JSON values need memory; where there is none, they can do no more than come here.
[[noreturn]] void end_at_once() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    mantissa::end_children_and_drafts();
    ::_exit(fail_without_memory());
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// What another tool said, as it said it, safe for a terminal.
void show_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) mantissa::tell_user(line);
}

// A file that is opened while standard output is closed would get its number, and what is printed. Closed
// means that nobody reads, as /dev/null does; reading from it fails, as it should.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_WRONLY) != descriptor) std::_Exit(exit_bad_input);
  }
}

int run(int argc, char** argv) {
  CLI::App program("Hardware simulator for training neural networks in 8 bits.", "mantissa");
  program.set_version_flag("--version", mantissa::cli::version_text);
  program.require_subcommand(1);
  program.footer(
      "Examples:\n"
      "  echo 3f900001 | mantissa calc convert --to e5m2\n"
      "  mantissa calc lfsr --seed 1 --count 4\n"
      "  mantissa vectors fp8_mac --count 10000 --seed 1 --out fp8_mac.hex\n"
      "  mantissa verify fp8_mac\n"
      "  mantissa replay traces/fashion-cnn.safetensors\n"
      "  mantissa train --net mlp --epochs 3\n"
      "  mantissa cycles --array 32x32 --gemm 256,256,256\n"
      "  mantissa bench\n"
      "  mantissa compare old/report.json new/report.json\n"
      "  mantissa silicon check measured.txt\n"
      "Every command has its own examples: mantissa COMMAND --help");
  mantissa::cli::add_calc(program);
  mantissa::cli::add_vectors(program);
  mantissa::cli::add_verify(program);
  mantissa::cli::add_replay(program);
  mantissa::cli::add_silicon(program);
  mantissa::cli::add_train(program);
  mantissa::cli::add_trace(program);
  mantissa::cli::add_cycles(program);
  mantissa::cli::add_bench(program);
  mantissa::cli::add_compare(program);
  mantissa::cli::refuse_empty_values(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream text;  // of --help, --version
    const int code = program.exit(done, text, text);
    mantissa::standard_output().text(text.str()).flush();
    return code;
  } catch (const CLI::ParseError& error) {
    return fail(mantissa::cli::usage_error(program, error));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_descriptors();
  // A reader that went away is seen as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_at_once);
  try {
    const int code = run(argc, argv);
    mantissa::check_standard_output();
    return code;
  } catch (const mantissa::ReaderGone&) {
    return 0;
  } catch (const mantissa::cli::ChecksFailed&) {
    return failed_checks();
  } catch (const mantissa::cli::AlreadyTold&) {
    return exit_bad_input;
  } catch (const mantissa::VerilatorError& error) {
    show_lines(error.output());
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

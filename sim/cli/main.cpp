// `mantissa`: reads the command line, runs one subcommand, turns errors into a message and an exit code.
#include <csignal>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "sim/cli/commands.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/support/output.hpp"
#include "sim/support/user_text.hpp"

namespace {

using mantissa::in_quotes;

constexpr int exit_checks_failed = 1;
constexpr int exit_bad_input = 2;

// The subcommand in which parsing stopped.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.back());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// What could have been written instead.
std::string alternatives(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += (text.empty() ? "commands are " : " ") + command->get_name();
  }
  text += text.empty() ? "options are" : "; options are";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_name().empty()) text += " " + option->get_name();
  }
  return text;
}

// CLI11's own words for an unknown option or command do not name the culprit first, or not at all.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining();
  for (const std::string& word : unknown) {
    if (word.front() == '-') return "unknown option " + in_quotes(word);
  }
  if (unknown.empty()) return error.what();
  return (app.get_subcommands([](const CLI::App*) { return true; }).empty() ? "unexpected argument "
                                                                            : "unknown command ") +
         in_quotes(unknown.front());
}

int fail(const std::string& message) {
  std::fprintf(stderr, "mantissa: error: %s\n", mantissa::without_control_characters(message).c_str());
  return exit_bad_input;
}

// What another tool said, as it said it, safe for a terminal.
void show_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::fprintf(stderr, "%s\n", mantissa::without_control_characters(line).c_str());
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
      "Every command has its own examples: mantissa COMMAND --help");
  mantissa::cli::add_calc(program);
  mantissa::cli::add_vectors(program);
  mantissa::cli::add_verify(program);
  mantissa::cli::add_replay(program);
  mantissa::cli::add_train(program);
  mantissa::cli::add_trace(program);
  mantissa::cli::add_cycles(program);
  mantissa::cli::add_bench(program);
  mantissa::cli::add_compare(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream text;  // of --help, --version
    const int code = program.exit(done, text, text);
    mantissa::standard_output().text(text.str()).flush();
    return code;
  } catch (const CLI::ParseError& error) {
    const CLI::App& where = deepest(program);
    return fail(complaint(where, error) + "; " + alternatives(where) + "; see " + full_name(where) +
                " --help");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away is seen as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const mantissa::ReaderGone&) {
    return 0;
  } catch (const mantissa::cli::ChecksFailed&) {
    return exit_checks_failed;
  } catch (const mantissa::VerilatorError& error) {
    show_lines(error.output());
    return fail(error.what());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

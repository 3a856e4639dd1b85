// `mantissa --version`: the program and what it stands on, as lines that scripts can read.
#include <sysc/kernel/sc_ver.h>

#include <stdexcept>

#include "models/kernels/targets.hpp"
#include "sim/cli/commands.hpp"
#include "sim/support/data_directory.hpp"
#include "sim/support/process.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

// Of the one that `verify` would call.
std::string verilator_version() {
  const std::string_view name = "Verilator ";
  try {
    const ProcessResult run = run_process({"verilator", "--version"});
    if (run.exit_code != 0 || !run.output.starts_with(name)) return "does not work";
    return run.output.substr(name.size(), run.output.find('\n') - name.size());
  } catch (const std::runtime_error&) {
    return "not found";
  }
}

std::string data_place() {
  try {
    return data_directory().string();
  } catch (const std::runtime_error&) {
    return "not found";
  }
}

}  // namespace

std::string version_text() {
  return "mantissa " MANTISSA_VERSION "\nSIMD target: " + kernels::current_target() +
         "\nSystemC: " + sc_core::sc_release() +
         "\nVerilator: " + without_control_characters(verilator_version()) + "\ndata: " + data_place();
}

}  // namespace mantissa::cli

// `mantissa --version`: the program and what it stands on, as lines that scripts can read.
#include <sysc/kernel/sc_ver.h>

#include <functional>
#include <stdexcept>
#include <string_view>

#include "models/kernels/targets.hpp"
#include "sim/cli/commands.hpp"
#include "sim/support/data_directory.hpp"
#include "sim/support/process.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

std::string or_not_found(const std::function<std::string()>& tell) {
  try {
    return tell();
  } catch (const std::runtime_error&) {
    return "not found";
  }
}

// Of the one that `verify` would call.
std::string verilator_version() {
  const std::string_view name = "Verilator ";
  const ProcessResult run = run_process({"verilator", "--version"});
  if (run.exit_code != 0 || !run.output.starts_with(name)) return "does not work";
  return printable(run.output.substr(name.size(), run.output.find('\n') - name.size()));
}

}  // namespace

std::string version_text() {
  return "mantissa " MANTISSA_VERSION "\nSIMD target: " + kernels::current_target() +
         "\nSystemC: " + sc_core::sc_release() + "\nVerilator: " + or_not_found(verilator_version) +
         "\ndata: " + or_not_found([] { return data_directory().string(); });
}

}  // namespace mantissa::cli

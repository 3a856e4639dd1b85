#include "sim/report/plot_tool.hpp"

#include <stdexcept>

#include "sim/support/data_directory.hpp"
#include "sim/support/process.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

// tools/plot ends with this where matplotlib is missing.
constexpr int exit_no_matplotlib = 3;

// What tools/plot has to say, for a message of ours.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace

std::vector<std::string> draw_plots(const std::filesystem::path& json, const std::filesystem::path& directory,
                                    const std::string& columns) {
  std::vector<std::string> command{MANTISSA_PYTHON, (data_directory() / "tools/plot").string(), json.string(),
                                   "--out", directory.string()};
  if (!columns.empty()) command.insert(command.end(), {"--columns", columns});
  ProcessResult run;
  try {
    run = run_process(command);
  } catch (const std::runtime_error& error) {
    return {"no plots: " + std::string(error.what())};
  }
  if (run.exit_code == exit_no_matplotlib) {
    return {"no plots: " MANTISSA_PYTHON " has no matplotlib (Debian: apt-get install python3-matplotlib)"};
  }
  if (run.exit_code != 0) throw std::runtime_error("tools/plot failed: " + printable(last_line(run.output)));
  return {};
}

}  // namespace mantissa

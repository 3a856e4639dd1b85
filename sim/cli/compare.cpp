// `mantissa compare`: what changed from one replay's report to another's.
#include <cstdint>
#include <memory>
#include <string>

#include "sim/cli/commands.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/report/compare_reports.hpp"

namespace mantissa::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::uint64_t top = 10;
  bool json = false;
};

void run_compare(const CompareOptions& options) {
  const ReadReport a = read_report(options.a);
  const ReadReport b = read_report(options.b);
  const Comparison comparison = compare(a, b);
  standard_output()
      .text(options.json ? comparison_json(a, b, comparison) : comparison_text(a, b, comparison, options.top))
      .flush();
}

}  // namespace

void add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_subcommand("compare", "Show what changed between two reports of a replay");
  command->add_option("A", options->a, "report.json of the baseline")->required();
  command->add_option("B", options->b, "report.json to compare with it")->required();
  command
      ->add_option("--top", options->top,
                   "number of layers to list for cost and for accuracy (0 = all that changed)")
      ->capture_default_str()
      ->transform(whole_number<std::uint64_t>(0, 1000000));
  command->add_flag("--json", options->json, "write JSON with every layer that changed");
  command->footer(
      "Changes are B - A; relative changes are relative to A. Different traces or seeds cause a warning:\n"
      "such reports answer different questions.\n"
      "Examples:\n"
      "  mantissa compare dense/report.json sparse/report.json\n"
      "  mantissa compare --top 3 edge/report.json datacentre/report.json\n"
      "  mantissa compare --json old/report.json new/report.json");
  command->callback([options] { run_compare(*options); });
}

}  // namespace mantissa::cli

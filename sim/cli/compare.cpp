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
  command->add_option("A", options->a, "report.json of the run to compare with")->required();
  command->add_option("B", options->b, "report.json of the other run")->required();
  command->add_option("--top", options->top, "layers to list for cost and for accuracy; 0: all that changed")
      ->capture_default_str()
      ->transform(whole_number<std::uint64_t>(0, 1000000));
  command->add_flag("--json", options->json, "as JSON, with every layer that changed");
  command->footer(
      "Changes are B - A, relative ones are of A. A difference of the trace or of the seed is a warning: "
      "such\n"
      "reports answer different questions.\n"
      "Examples:\n"
      "  mantissa compare dense/report.json sparse/report.json\n"
      "  mantissa compare --top 3 edge/report.json datacentre/report.json\n"
      "  mantissa compare --json old/report.json new/report.json");
  command->callback([options] { run_compare(*options); });
}

}  // namespace mantissa::cli

// `mantissa trace`: training traces. `check` is here; the larger ones have files of their own.
#include "sim/trace/trace.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sim/cli/commands.hpp"
#include "sim/cli/size_options.hpp"
#include "sim/cli/trace_commands.hpp"
#include "sim/support/output.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/finite.hpp"

namespace mantissa::cli {
namespace {

void check_trace(const std::string& path, const replay::SizeLimits& limits) {
  const trace::Trace trace(path);
  replay::check_size(trace, trace.steps(), limits);
  std::uint64_t elements = 0;
  for (const trace::TensorInfo& tensor : trace.file().tensors()) elements += tensor.elements();
  const std::vector<trace::NonFinite> findings = trace::find_nonfinite(trace.file());
  Output out = standard_output();
  out.text(printable(path) + ":\n");
  out.text("  file: header, names, types, sizes, " + std::to_string(trace.file().tensors().size()) +
           " tensors side by side without gap or overlap: ok\n");
  out.text("  layers: " + std::to_string(trace.layers().size()) + " records; every tensor has one: ok\n");
  out.text("  shapes: every layer's tensors fit each other, in " + std::to_string(trace.steps().size()) +
           (trace.steps().size() == 1 ? " step: ok\n" : " steps: ok\n"));
  if (findings.empty()) {
    out.text("  numbers: all " + std::to_string(elements) + " are finite: ok\n").flush();
    return;
  }
  for (const trace::NonFinite& found : findings) {
    out.text("  numbers: " + found.tensor + ": " + std::to_string(found.count) +
             " not finite; the first is element " + std::to_string(found.first) + ", " +
             (std::isnan(found.value) ? "NaN" : (found.value > 0 ? "+Inf" : "-Inf")) + "\n");
  }
  out.text("numbers that are not finite in " + std::to_string(findings.size()) + " of " +
           std::to_string(trace.file().tensors().size()) + " tensors: a replay refuses them\n");
  out.flush();
  throw ChecksFailed();
}

void add_trace_check(CLI::App& trace) {
  CLI::App* command = trace.add_subcommand("check", "Check all of a trace: file, layers, shapes, numbers");
  struct Options {
    std::string path;
    replay::SizeLimits limits;
  };
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->path, "the trace")->required();
  add_size_limits(*command, options->limits);
  command->footer(
      "Exit codes: 0 no problem found; 1 some numbers are not finite (listed); 2 not a trace, a damaged "
      "one,\n"
      "or one that is too large for a replay (the error says what is wrong, and where).\n"
      "Examples:\n"
      "  mantissa trace check run.safetensors");
  command->callback([options] { check_trace(options->path, options->limits); });
}

}  // namespace

void add_trace(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("trace", "Inspect and check training traces, or make synthetic ones");
  command->require_subcommand(1);
  add_trace_info(*command);
  add_trace_check(*command);
  add_trace_synth(*command);
  add_trace_import(*command);
  command->footer(
      "A trace holds the tensors of some layers at some steps of a training run, in one safetensors file;\n"
      "traces/README.md describes traces.\n"
      "Examples:\n"
      "  mantissa trace synth --net resnet18 --batch 4 --out resnet18.safetensors\n"
      "  mantissa trace check resnet18.safetensors\n"
      "  mantissa trace info resnet18.safetensors");
}

}  // namespace mantissa::cli

#include "sim/replay/report_notes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/recipe/recipe_text.hpp"

namespace mantissa::replay {
namespace {

constexpr std::size_t layers_named = 5;

// With commas, so that large numbers can be read.
std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

// A run promises its own bits only with its own array and recipe.
void note_run(const trace::Run& run, const Recipe& recipe, const Architecture& arch, const Options& options,
              ReplayReport& report) {
  if (run.run_seed && *run.run_seed != options.seed) {
    report.notes.emplace_back("the trace names its own seed, " + std::to_string(*run.run_seed) +
                              ", which is used in place of " + std::to_string(options.seed));
  }
  if (std::exp2(std::round(std::log2(run.loss_scale))) != run.loss_scale) {
    report.notes.emplace_back(
        "the trace's loss scale is not a power of two; the nearest power of two is used for its gradients");
  }
  if ((run.rows && *run.rows != arch.rows) || (run.cols && *run.cols != arch.cols)) {
    const auto side = [](std::optional<int> size) { return size ? std::to_string(*size) : std::string("?"); };
    report.notes.emplace_back("the trace was recorded on an array of " + side(run.rows) + " x " +
                              side(run.cols) + ", this one is " + std::to_string(arch.rows) + " x " +
                              std::to_string(arch.cols) + ": stochastic roundings differ from the run's");
  }
  if (run.recipe.empty() || run.recipe_digest == recipe_digest(recipe)) return;
  if (run.recipe != recipe.name) {
    report.warnings.emplace_back("the trace was recorded with recipe " + run.recipe + ", replayed with " +
                                 recipe.name);
  } else if (run.recipe_digest.empty()) {
    report.notes.emplace_back("the trace has no digest of its recipe " + run.recipe +
                              ": results are not compared with the run's");
  } else {
    report.warnings.emplace_back("the trace was recorded with a different recipe named " + run.recipe +
                                 ": results are not compared with the run's");
  }
}

void note_capture(const trace::Trace& trace, ReplayReport& report) {
  if (const std::optional<double> coverage = trace.coverage(); coverage && *coverage < 1) {
    report.notes.push_back(
        fmt::format("the trace has {:.1f} % of the forward multiply-accumulates that its model executed: the "
                    "rest is in no figure",
                    100 * *coverage));
  }
  if (!trace.capture()) return;
  for (const std::string& note : trace.capture()->notes) report.notes.push_back("capture: " + note);
}

void note_dataflow(const Architecture& arch, ReplayReport& report) {
  if (arch.dataflow == Dataflow::os_skip) return;
  report.warnings.emplace_back(
      "dataflow " + std::string(name_of(arch.dataflow)) +
      " is another simulator's convention for compute cycles: its GEMMs have no stalls, no SRAM and no DRAM, "
      "so cycles are a lower bound, and there is no total of energy");
}

void note_recipe(const Recipe& recipe, ReplayReport& report) {
  if (recipe.compression) {
    report.notes.emplace_back(
        "gradient compression acts between machines, after the weight gradient: these "
        "cycles and this energy do not include it");
  }
  if (recipe.sampling) {
    report.notes.emplace_back(
        "double sampling acts on the data set before it reaches the array: the recorded inputs "
        "are quantized as the recipe's activations");
  }
}

}  // namespace

void note_inputs(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                 const Options& options, ReplayReport& report) {
  note_dataflow(arch, report);
  if (trace.run()) note_run(*trace.run(), recipe, arch, options, report);
  note_capture(trace, report);
  note_recipe(recipe, report);
}

void note_parts(ReplayReport& report) {
  report.notes.emplace_back(
      "no machine takes the sweeps of batch norms summed in parts (norm.parts): but for sums at a drain, "
      "their "
      "results are those of the golden model, their cycles those of the closed form, and nothing is "
      "compared");
}

void warn_of_results(ReplayReport& report) {
  std::uint64_t elements = 0;
  std::uint64_t nonfinite = 0;
  std::vector<std::pair<std::string, std::uint64_t>> layers;  // in the order of the network
  for (const PassReport& pass : report.passes) {
    elements += pass.accuracy.elements;
    if (pass.accuracy.nonfinite == 0) continue;
    nonfinite += pass.accuracy.nonfinite;
    const auto found = std::find_if(layers.begin(), layers.end(),
                                    [&](const auto& each) { return each.first == pass.layer; });
    if (found == layers.end()) {
      layers.emplace_back(pass.layer, pass.accuracy.nonfinite);
    } else {
      found->second += pass.accuracy.nonfinite;
    }
  }
  if (nonfinite == 0) return;
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  std::string text = grouped(nonfinite) + " of " + grouped(elements) +
                     " results are Inf or NaN, and their passes have no figures of accuracy; layers";
  for (std::size_t i = 0; i < std::min(layers.size(), layers_named); ++i)
    text += (i == 0 ? " " : ", ") + layers[i].first + " (" + grouped(layers[i].second) + ")";
  if (layers.size() > layers_named) text += " and " + std::to_string(layers.size() - layers_named) + " more";
  report.warnings.insert(report.warnings.begin(), std::move(text));
}

}  // namespace mantissa::replay

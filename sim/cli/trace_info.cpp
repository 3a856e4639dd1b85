// `mantissa trace info`: what a trace holds.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/parallel/parallel.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/trace_commands.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/output.hpp"
#include "sim/support/text_table.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/gradient.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/statistics.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::cli {
namespace {

using trace::Role;

struct TensorRow {
  const trace::TensorInfo* tensor = nullptr;
  std::uint32_t step = 0;
  const trace::Layer* layer = nullptr;
  Role role = Role::input;
  trace::Statistics statistics;
  std::optional<GradientReport> gradient;  // of grad_output
};

// In the order of steps, layers and roles.
std::vector<TensorRow> rows_of(const trace::Trace& trace) {
  std::vector<TensorRow> rows;
  for (const std::uint32_t step : trace.steps()) {
    for (const trace::Layer& layer : trace.layers()) {
      for (int i = 0; i < trace::role_count; ++i) {
        const auto role = static_cast<Role>(i);
        if (const trace::TensorInfo* tensor = trace.find(step, layer, role))
          rows.push_back({tensor, step, &layer, role, {}, {}});
      }
    }
  }
  return rows;
}

void measure(const trace::Trace& trace, std::vector<TensorRow>& rows) {
  Progress progress;
  std::mutex mutex;
  std::size_t done = 0;
  const auto measure_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      TensorRow& row = rows[i];
      row.statistics = trace::statistics_of(trace.file(), *row.tensor);
      if (row.role == Role::grad_output) {
        row.gradient = trace::describe_gradient(trace.file().values(*row.tensor));
        row.gradient->step = row.step;
        row.gradient->layer = row.layer->name;
      }
      const std::lock_guard lock(mutex);
      progress.show(++done, rows.size(), row.tensor->name);
    }
  };
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  parallel_ranges(static_cast<std::int64_t>(rows.size()), 1, threads, measure_range);
}

std::string number(double value, const char* pattern = "%.3g") {
  char text[40];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

std::string pair_text(const std::array<std::int64_t, 2>& pair) {
  return pair[0] == pair[1] ? std::to_string(pair[0])
                            : std::to_string(pair[0]) + "x" + std::to_string(pair[1]);
}

// Whether there is anything to be close to.
bool fitted(const GradientReport& gradient) { return gradient.sigma > 0; }

std::string closest(const GradientReport& gradient) {
  if (!fitted(gradient)) return "-";
  if (gradient.ks_lognormal <= std::min(gradient.ks_normal, gradient.ks_laplace)) return "lognormal";
  return gradient.ks_normal <= gradient.ks_laplace ? "normal" : "laplace";
}

struct Tally {
  std::size_t lognormal = 0;
  std::size_t gradients = 0;
};

// Layers of all steps.
Tally tally_of(const std::vector<TensorRow>& rows) {
  Tally tally;
  for (const TensorRow& row : rows) {
    if (!row.gradient) continue;
    ++tally.gradients;
    if (closest(*row.gradient) == "lognormal") ++tally.lognormal;
  }
  return tally;
}

std::string run_text(const trace::Run& run) {
  std::string text = "recorded run:";
  if (!run.recipe.empty()) text += " recipe " + run.recipe + ",";
  if (run.run_seed) text += " seed " + std::to_string(*run.run_seed) + ",";
  if (run.rows && run.cols)
    text += " array " + std::to_string(*run.rows) + "x" + std::to_string(*run.cols) + ",";
  text += " loss scale " + number(run.loss_scale, "%.9g");
  if (!run.tau.empty()) text += ", pruning threshold of " + std::to_string(run.tau.size()) + " layers";
  return printable(text) + "\n";
}

struct PassMacs {
  Pass pass;
  double macs;
};

std::vector<PassMacs> pass_macs(const trace::Trace& trace) {
  std::vector<PassMacs> all;
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
    all.push_back({pass, trace::macs_of(trace, pass)});
  return all;
}

std::string kinds_text(const trace::Trace& trace) {
  std::string text;
  for (const LayerKind kind : {LayerKind::conv2d, LayerKind::linear, LayerKind::batchnorm}) {
    const auto count = std::count_if(trace.layers().begin(), trace.layers().end(),
                                     [&](const trace::Layer& layer) { return layer.kind == kind; });
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name_of(kind));
  }
  return text;
}

// What the file has, and what of the model it does not.
std::string totals_text(const trace::Trace& trace) {
  std::string text = "layers: " + kinds_text(trace) + "\nMACs of all steps:";
  for (const PassMacs& each : pass_macs(trace)) {
    std::string name(name_of(each.pass));
    std::replace(name.begin(), name.end(), '_', ' ');
    text += std::string(each.pass == Pass::forward ? " " : ", ") + name + " " + with_prefix(each.macs);
  }
  text += "\n";
  if (const std::optional<double> coverage = trace.coverage()) {
    text += "coverage: " + number(100 * *coverage, "%.1f") + " % of the model's forward MACs, " +
            with_prefix(*trace.capture()->executed_macs) + "\n";
  }
  if (!trace.capture()) return text;
  for (const std::string& note : trace.capture()->notes) text += "capture note: " + printable(note) + "\n";
  return text;
}

using Align = TextTable::Align;

TextTable layer_table(const trace::Trace& trace) {
  TextTable table({{"layer", Align::left},
                   {"kind", Align::left},
                   {"stride"},
                   {"padding"},
                   {"dilation"},
                   {"groups"},
                   {"input gradient"}});
  for (const trace::Layer& layer : trace.layers()) {
    const bool conv = layer.kind == trace::LayerKind::conv2d;
    const auto of_conv = [&](const std::string& text) { return conv ? text : std::string("-"); };
    table.row({printable(layer.name), std::string(name_of(layer.kind)), of_conv(pair_text(layer.stride)),
               of_conv(pair_text(layer.padding)), of_conv(pair_text(layer.dilation)),
               of_conv(std::to_string(layer.groups)), layer.input_gradient ? "yes" : "no"});
  }
  return table;
}

TextTable tensor_table(const std::vector<TensorRow>& rows) {
  TextTable table({{"tensor", Align::left},
                   {"type", Align::left},
                   {"shape"},
                   {"zeros %"},
                   {"min |x|"},
                   {"max |x|"},
                   {"mean"},
                   {"std"},
                   {"not finite"}});
  for (const TensorRow& row : rows) {
    const trace::Statistics& s = row.statistics;
    table.row({printable(row.tensor->name), std::string(name_of(row.tensor->dtype)),
               shape_text(row.tensor->shape), number(100 * s.zero_share(), "%.1f"), number(s.smallest),
               number(s.largest), number(s.mean), number(s.deviation),
               s.nonfinite == 0 ? "-" : std::to_string(s.nonfinite)});
  }
  return table;
}

TextTable gradient_table(const std::vector<TensorRow>& rows) {
  TextTable table({{"output gradient of", Align::left},
                   {"zeros %"},
                   {"mu"},
                   {"sigma"},
                   {"KS lognormal"},
                   {"normal"},
                   {"laplace"},
                   {"closest"},
                   {"best FP8"},
                   {"scale"}});
  for (const TensorRow& row : rows) {
    if (!row.gradient) continue;
    const GradientReport& g = *row.gradient;
    const trace::Fp8Advice advice = trace::best_fp8(g);
    table.row({"s" + std::to_string(g.step) + "." + printable(g.layer), number(100 * g.zero_share, "%.1f"),
               number(g.mu, "%.2f"), number(g.sigma, "%.2f"), number(g.ks_lognormal, "%.4f"),
               number(g.ks_normal, "%.4f"), number(g.ks_laplace, "%.4f"), closest(g),
               advice.choice.format.name(), "2^" + std::to_string(advice.scale)});
  }
  return table;
}

void print_text(const trace::Trace& trace, const std::vector<TensorRow>& rows) {
  Output out = standard_output();
  std::string steps;
  for (const std::uint32_t step : trace.steps()) steps += (steps.empty() ? "" : ", ") + std::to_string(step);
  out.text(printable(trace.path().string()) + ": " + std::to_string(trace.layers().size()) + " layers, " +
           std::to_string(rows.size()) + " tensors, " +
           number(static_cast<double>(trace.file().file_bytes()) / 1e6, "%.1f") + " MB; steps " + steps +
           "\n");
  if (!trace.origin().empty()) out.text("made by " + printable(trace.origin()) + "\n");
  if (trace.run()) out.text(run_text(*trace.run()));
  out.text(totals_text(trace));
  out.text("\n" + layer_table(trace).text() + "\n" + tensor_table(rows).text());
  const Tally tally = tally_of(rows);
  if (tally.gradients > 0) {
    out.text("\n" + gradient_table(rows).text());
    out.text(
        "mu and sigma are those of ln|g|; KS is the Kolmogorov-Smirnov distance from the distribution "
        "fitted to the\nnon-zero elements; best FP8 and scale: least expected error on that lognormal.\n\n");
  }
  out.text("lognormal is the closest in " + std::to_string(tally.lognormal) + " of " +
           std::to_string(tally.gradients) + " output gradients\n");
  out.flush();
}

OrderedJson tensor_json(const TensorRow& row) {
  const trace::Statistics& s = row.statistics;
  return {{"name", row.tensor->name},
          {"step", row.step},
          {"layer", row.layer->name},
          {"role", name_of(row.role)},
          {"dtype", name_of(row.tensor->dtype)},
          {"shape", row.tensor->shape},
          {"elements", s.elements},
          {"zeros", s.zeros},
          {"nonfinite", s.nonfinite},
          {"min_magnitude", s.smallest},
          {"max_magnitude", s.largest},
          {"mean", s.mean},
          {"std", s.deviation}};
}

OrderedJson gradient_json(const GradientReport& g) {
  const trace::Fp8Advice advice = trace::best_fp8(g);
  return {{"step", g.step},
          {"layer", g.layer},
          {"elements", g.elements},
          {"zero_share", g.zero_share},
          {"mu", g.mu},
          {"sigma", g.sigma},
          {"ks_lognormal", g.ks_lognormal},
          {"ks_normal", g.ks_normal},
          {"ks_laplace", g.ks_laplace},
          {"closest", closest(g)},
          {"best_fp8", advice.choice.format.name()},
          {"best_fp8_relative_error", advice.choice.error},
          {"scale_exponent", advice.scale},
          {"histogram_first_log2", g.histogram_first},
          {"histogram_width_log2", g.histogram_width},
          {"histogram", g.histogram}};
}

OrderedJson layer_json(const trace::Layer& layer) {
  return {{"name", layer.name},
          {"kind", name_of(layer.kind)},
          {"stride", layer.stride},
          {"padding", layer.padding},
          {"dilation", layer.dilation},
          {"groups", layer.groups},
          {"input_gradient", layer.input_gradient}};
}

OrderedJson run_json(const trace::Run& run) {
  OrderedJson json = OrderedJson::object();
  if (!run.recipe.empty()) json["recipe"] = run.recipe;
  if (run.run_seed) json["run_seed"] = *run.run_seed;
  if (run.rows) json["rows"] = *run.rows;
  if (run.cols) json["cols"] = *run.cols;
  json["loss_scale"] = run.loss_scale;
  for (const auto& [layer, tau] : run.tau) object_in(json, "tau")[layer] = tau;
  return json;
}

OrderedJson capture_json(const trace::Trace& trace) {
  OrderedJson json = OrderedJson::object();
  if (const std::optional<double> coverage = trace.coverage()) {
    json["executed_macs"] = *trace.capture()->executed_macs;
    json["coverage"] = *coverage;
  }
  json["notes"] = trace.capture()->notes;
  return json;
}

void print_json(const trace::Trace& trace, const std::vector<TensorRow>& rows) {
  OrderedJson json{{"file", trace.path().string()}, {"bytes", trace.file().file_bytes()}};
  if (!trace.origin().empty()) json["origin"] = trace.origin();
  if (trace.run()) json["run"] = run_json(*trace.run());
  if (trace.capture()) json["capture"] = capture_json(trace);
  json["steps"] = trace.steps();
  for (const PassMacs& each : pass_macs(trace))
    object_in(json, "macs")[std::string(name_of(each.pass))] = each.macs;
  json["layers"] = OrderedJson::array();
  json["tensors"] = OrderedJson::array();
  json["gradients"] = OrderedJson::array();
  for (const trace::Layer& layer : trace.layers()) json["layers"].push_back(layer_json(layer));
  for (const TensorRow& row : rows) {
    json["tensors"].push_back(tensor_json(row));
    if (row.gradient) json["gradients"].push_back(gradient_json(*row.gradient));
  }
  json["lognormal_closest"] = tally_of(rows).lognormal;
  standard_output().text(json_text(json, 2)).text("\n").flush();
}

void run_info(const std::string& path, bool json) {
  const trace::Trace trace(path);
  std::vector<TensorRow> rows = rows_of(trace);
  measure(trace, rows);
  json ? print_json(trace, rows) : print_text(trace, rows);
}

}  // namespace

void add_trace_info(CLI::App& trace) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = trace.add_subcommand("info", "Show layers, tensors and their statistics");
  command->add_option("FILE", options->path, "the trace")->required();
  command->add_flag("--json", options->json, "write JSON to standard output");
  command->footer(
      "For every output gradient: mu and sigma of ln|g|, the Kolmogorov-Smirnov distance (over at most\n"
      "65536 elements, evenly spaced) from the lognormal, normal and Laplace distributions fitted to its\n"
      "non-zero elements, and the 8-bit format and power-of-two scale with the least expected error.\n"
      "Examples:\n"
      "  mantissa trace info run.safetensors\n"
      "  mantissa trace info run.safetensors --json");
  command->callback([options] { run_info(options->path, options->json); });
}

}  // namespace mantissa::cli

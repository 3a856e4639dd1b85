#include "sim/report/report_json.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/report/figures.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa {
namespace {

// JSON has no Inf and no NaN.
OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }
OrderedJson number(std::uint64_t value) { return value; }

// One object per component, as the table names them.
OrderedJson components_json(const Energy& energy) {
  OrderedJson json = OrderedJson::object();
  for (const EnergyComponent& component : energy.components) json[component.name] = number(component.pj);
  return json;
}

OrderedJson number(const FigureValue& value) {
  return std::visit([](auto one) { return number(one); }, value);
}

void add(OrderedJson& json, const Figure& figure, const FigureValue& value) {
  json[figure.key] = number(value);
  if (!figure.exact.empty()) json[figure.exact] = as_double(value) == std::numeric_limits<double>::infinity();
}

OrderedJson energy_json(const Energy& energy, const GemmCycles& cost) {
  OrderedJson json{{"energy_pj", components_json(energy)}};
  for (const Figure& figure : figures()) {
    if (figure.energy()) add(json, figure, figure.of.energy(energy, cost));
  }
  return json;
}

// The architecture's own table at the top, and every table by name.
void add_energy(OrderedJson& json, const std::vector<Energy>& energy, const GemmCycles& cost) {
  if (!energy.empty()) json.update(energy_json(energy.front(), cost));
  OrderedJson tables = OrderedJson::object();
  for (const Energy& one : energy) tables[one.table] = energy_json(one, cost);
  json["energy_by_table"] = std::move(tables);
}

// Of a pass, or of totals; energy stands together, at the place of its first figure.
template <typename Of>
void add_figures(OrderedJson& json, const Of& of) {
  for (const Figure& figure : figures()) {
    if (!figure.energy()) {
      if (const std::optional<FigureValue> value = value_of(figure, of)) add(json, figure, *value);
    } else if (!json.contains("energy_by_table")) {
      add_energy(json, of.energy, of.cost);
    }
  }
}

OrderedJson layer_json(const PassReport& pass) {
  OrderedJson json{
      {"step", pass.step}, {"layer", pass.layer}, {"pass", name_of(pass.pass)}, {"kind", name_of(pass.kind)}};
  // M, N, K are of a product; a batch norm is none.
  json["M"] = is_gemm(pass) ? pass.gemm.m : 0;
  json["N"] = is_gemm(pass) ? pass.gemm.n : 0;
  json["K"] = is_gemm(pass) ? pass.gemm.k : 0;
  json["groups"] = pass.groups;
  if (work_of(pass) == Work::norms) {
    json["channels"] = pass.gemm.m;
    json["elements_per_channel"] = pass.gemm.k;
  }
  if (work_of(pass) == Work::updates) json["parameters"] = pass.gemm.m;
  json["formats"] = pass.formats;
  json["mapping"] = pass.mapping.empty() ? OrderedJson("simple") : OrderedJson(pass.mapping);
  add_figures(json, pass);
  return json;
}

OrderedJson tensor_json(const TensorReport& tensor) {
  OrderedJson json{{"step", tensor.step},
                   {"layer", tensor.layer},
                   {"class", tensor.tensor_class},
                   {"format", tensor.format},
                   {"scale_exponent", tensor.scale},
                   {"zero_share", number(tensor.zero_share)},
                   {"zero_share_recorded", number(tensor.zero_share_in)}};
  for (const Figure& figure : figures()) {
    if (figure.of.accuracy) add(json, figure, figure.of.accuracy(tensor.accuracy));
  }
  return json;
}

OrderedJson gradient_json(const GradientReport& gradient) {
  OrderedJson histogram = OrderedJson::array();
  for (const double share : gradient.histogram) histogram.push_back(number(share));
  return {{"step", gradient.step},
          {"layer", gradient.layer},
          {"elements", gradient.elements},
          {"zero_share", number(gradient.zero_share)},
          {"mu_ln", number(gradient.mu)},
          {"sigma_ln", number(gradient.sigma)},
          {"ks_lognormal", number(gradient.ks_lognormal)},
          {"ks_normal", number(gradient.ks_normal)},
          {"ks_laplace", number(gradient.ks_laplace)},
          {"tau", number(gradient.tau)},
          {"histogram_first_log2", number(gradient.histogram_first)},
          {"histogram_width_log2", number(gradient.histogram_width)},
          {"histogram_share", std::move(histogram)}};
}

// Of whole steps.
void add_step_figures(OrderedJson& json, const Totals& totals, const StepFigures& steps) {
  add_figures(json, totals);
  for (const Figure& figure : figures()) {
    if (const std::optional<FigureValue> value = value_of(figure, steps)) add(json, figure, *value);
  }
}

OrderedJson totals_json(const ReportTotals& totals) {
  OrderedJson json = OrderedJson::object();
  add_step_figures(json, totals.overall, totals);
  OrderedJson passes = OrderedJson::object();
  for (std::size_t i = 0; i < reported_passes.size(); ++i) {
    if (reported_passes[i] == Pass::update && totals.by_pass[i].passes == 0) continue;
    add_figures(object_in(passes, std::string(name_of(reported_passes[i]))), totals.by_pass[i]);
  }
  json["by_pass"] = std::move(passes);
  OrderedJson kinds = OrderedJson::object();
  for (std::size_t i = 0; i < kinds_of_work.size(); ++i) {
    if (totals.by_work[i].passes != 0)
      add_figures(object_in(kinds, std::string(name_of(kinds_of_work[i]))), totals.by_work[i]);
  }
  json["by_work"] = std::move(kinds);
  OrderedJson steps = OrderedJson::object();
  for (const StepTotals& step : totals.by_step)
    add_step_figures(object_in(steps, std::to_string(step.step)), step.totals, step);
  json["by_step"] = std::move(steps);
  return json;
}

// Every key with its value, both as --set takes them.
OrderedJson keys_json(const std::vector<Setting>& keys) {
  OrderedJson json = OrderedJson::object();
  for (const Setting& key : keys) json[key.key] = key.value;
  return json;
}

OrderedJson timeline_json(const TimelineReport& report) {
  const PassTimeline& timeline = report.timeline;
  OrderedJson json{{"step", report.step},
                   {"layer", report.layer},
                   {"pass", name_of(report.pass)},
                   {"mapping", report.mapping.empty() ? "simple" : report.mapping},
                   {"cycles", report.cost.cycles()},
                   {"shown_cycles", timeline.shown_cycles},
                   {"memory_steps", report.cost.steps},
                   {"step_starts", timeline.step_starts}};
  for (const Activity activity : activities) {
    OrderedJson intervals = OrderedJson::array();
    for (const Interval& each : timeline.of(activity)) intervals.push_back({each.begin, each.end});
    json[name_of(activity)] = std::move(intervals);
  }
  return json;
}

// Where a figure of a table comes from.
template <typename Figure>
OrderedJson provenance(OrderedJson json, const Figure& figure) {
  json["pj"] = number(figure.pj);
  json["kind"] = figure.derived ? "derived" : "measured";
  if (!figure.formula.empty()) json["formula"] = figure.formula;
  if (!figure.source.empty()) json["source"] = figure.source;
  return json;
}

OrderedJson table_json(const EnergyTable& table) {
  OrderedJson prices = OrderedJson::array();
  for (const auto& [action, price] : table.prices)
    prices.push_back(provenance({{"action", action}, {"component", price.component}}, price));
  OrderedJson figures = OrderedJson::array();
  for (const auto& [name, figure] : table.figures) figures.push_back(provenance({{"name", name}}, figure));
  return {{"name", table.name},
          {"source", table.source},
          {"node_nm", number(table.node_nm)},
          {"voltage_v", table.voltage_v > 0 ? number(table.voltage_v) : OrderedJson(nullptr)},
          {"clock_mhz", table.clock_mhz > 0 ? number(table.clock_mhz) : OrderedJson(nullptr)},
          {"prices", std::move(prices)},
          {"figures", std::move(figures)}};
}

template <typename Item, typename Make>
OrderedJson array_of(const std::vector<Item>& items, Make make) {
  OrderedJson json = OrderedJson::array();
  for (const Item& item : items) json.push_back(make(item));
  return json;
}

std::string compact(const OrderedJson& json) { return json_text(json, -1); }

// One record per line, one figure of the totals: a person can read it, and a line-by-line difference shows
// what changed.
std::string lines_of_records(const OrderedJson& json) {
  std::string text = "{";
  for (const auto& [key, value] : json.items()) {
    text += (text.size() == 1 ? "\n  " : ",\n  ") + compact(key) + ": ";
    if (key == "totals") {
      std::string separator = "{\n    ";
      for (const auto& [name, figure] : value.items()) {
        text += separator + compact(name) + ": " + compact(figure);
        separator = ",\n    ";
      }
      text += "\n  }";
      continue;
    }
    if (!value.is_array() || value.empty()) {
      text += compact(value);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      text += (i == 0 ? "[\n    " : ",\n    ") + compact(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace

std::string report_json(const ReplayReport& report) {
  const ReportTotals totals = total(report);
  OrderedJson json{{"mantissa_report", report_schema},
                   {"version", report.version},
                   {"seed", report.seed},
                   {"engine", report.engine}};
  json["trace"] = {{"name", report.trace}, {"hash", report.trace_hash}};
  json["recipe"] = {
      {"name", report.recipe}, {"hash", report.recipe_hash}, {"keys", keys_json(report.recipe_keys)}};
  json["arch"] = {{"name", report.arch},
                  {"hash", report.arch_hash},
                  {"rows", report.rows},
                  {"cols", report.cols},
                  {"clock_mhz", number(report.clock_mhz)},
                  {"peak_dram_bytes_per_cycle", number(report.peak_bytes_per_cycle)},
                  {"keys", keys_json(report.arch_keys)}};
  json["settings"] = report.settings;
  json["images"] = images_of(report);
  json["sampled_tiles"] = report.sampled_tiles;
  if (report.run_bits.compared > 0) {
    json["run_bits"] = {{"compared", report.run_bits.compared}, {"different", report.run_bits.different}};
  }
  json["warnings"] = report.warnings;
  json["notes"] = report.notes;
  json["totals"] = totals_json(totals);
  json["layers"] = array_of(report.passes, layer_json);
  json["tensors"] = array_of(report.tensors, tensor_json);
  json["gradients"] = array_of(report.gradients, gradient_json);
  json["staging"] = array_of(report.staging, [&totals](const StagingPoint& point) {
    return OrderedJson{{"depth", point.depth},
                       {"port", point.port},
                       {"speedup", number(point.speedup)},
                       {"gradient_sparsity", number(totals.gradient_sparsity)},
                       {"ideal_speedup", number(ideal_speedup(totals.gradient_sparsity))}};
  });
  json["timeline"] = report.timeline ? timeline_json(*report.timeline) : OrderedJson(nullptr);
  json["tables"] = array_of(report.tables, table_json);
  return lines_of_records(json);
}

}  // namespace mantissa

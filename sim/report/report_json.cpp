#include "sim/report/report_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/report/totals.hpp"

namespace mantissa {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no Inf and no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// One object per component, as the table names them.
Json components_json(const Energy& energy) {
  Json json = Json::object();
  for (const EnergyComponent& component : energy.components) json[component.name] = number(component.pj);
  return json;
}

Json energy_json(const Energy& energy, const GemmCycles& cost) {
  return {{"energy_pj", components_json(energy)},
          {"energy_total_pj", number(energy.total_pj())},
          {"energy_derived_pj", number(energy.derived_pj())},
          {"derived_share", number(derived_share(energy))},
          {"pj_per_mac_executed", number(pj_per_mac_executed(energy, cost))},
          {"pj_per_mac_dense", number(pj_per_mac_dense(energy, cost))}};
}

// The architecture's own table at the top, and every table by name.
void add_energy(Json& json, const std::vector<Energy>& energy, const GemmCycles& cost) {
  if (!energy.empty()) json.update(energy_json(energy.front(), cost));
  Json tables = Json::object();
  for (const Energy& one : energy) tables[one.table] = energy_json(one, cost);
  json["energy_by_table"] = std::move(tables);
}

void add_cost(Json& json, const GemmCycles& cost) {
  json["macs"] = cost.macs;
  json["skipped_macs"] = cost.skipped;
  json["cycles"] = cost.cycles();
  json["compute_cycles"] = cost.compute;
  json["stall_load_cycles"] = cost.stall_load;
  json["stall_write_back_cycles"] = cost.stall_write_back;
  json["stall_drain_cycles"] = cost.stall_drain;
  json["sram_bytes"] = cost.sram_bytes;
  json["dram_bytes"] = cost.dram_bytes;
  json["dram_unique_bytes"] = cost.dram_bytes_unique;
}

void add_accuracy(Json& json, const Accuracy& accuracy) {
  json["elements"] = accuracy.elements;
  json["sqnr_db"] = number(accuracy.sqnr_db);
  json["exact"] = std::isinf(accuracy.sqnr_db) && accuracy.sqnr_db > 0;
  json["cosine"] = number(accuracy.cosine);
  json["max_ulp"] = number(accuracy.max_ulp);
  json["bias"] = number(accuracy.bias);
  json["nonfinite"] = accuracy.nonfinite;
  json["overflow"] = accuracy.overflow;
  json["underflow"] = accuracy.underflow;
  json["flushed_to_zero"] = accuracy.flushed_to_zero;
}

Json layer_json(const PassReport& pass) {
  Json json{
      {"step", pass.step}, {"layer", pass.layer}, {"pass", name_of(pass.pass)}, {"kind", name_of(pass.kind)}};
  // M, N, K are of a product; a batch norm is none.
  json["M"] = is_gemm(pass) ? pass.gemm.m : 0;
  json["N"] = is_gemm(pass) ? pass.gemm.n : 0;
  json["K"] = is_gemm(pass) ? pass.gemm.k : 0;
  json["groups"] = pass.groups;
  if (!is_gemm(pass)) {
    json["channels"] = pass.gemm.m;
    json["elements_per_channel"] = pass.gemm.k;
  }
  json["formats"] = pass.formats;
  add_cost(json, pass.cost);
  json["suppressed"] = pass.suppressed;
  json["dense_cycles"] = dense_cycles(pass);
  json["speedup"] =
      number(ratio(static_cast<double>(dense_cycles(pass)), static_cast<double>(pass.cost.cycles())));
  json["operand_sparsity"] = number(pass.operand_sparsity);
  json["utilization"] = number(pass.utilization);
  json["tiles"] = pass.cost.tiles;
  json["memory_steps"] = pass.cost.steps;
  add_energy(json, pass.energy, pass.cost);
  add_accuracy(json, pass.accuracy);
  return json;
}

Json tensor_json(const TensorReport& tensor) {
  Json json{{"step", tensor.step},
            {"layer", tensor.layer},
            {"class", tensor.tensor_class},
            {"format", tensor.format},
            {"scale_exponent", tensor.scale},
            {"zero_share", number(tensor.zero_share)},
            {"zero_share_recorded", number(tensor.zero_share_in)}};
  add_accuracy(json, tensor.accuracy);
  return json;
}

Json gradient_json(const GradientReport& gradient) {
  Json histogram = Json::array();
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

Json totals_json(const Totals& totals) {
  Json json{{"passes", totals.passes}};
  add_cost(json, totals.cost);
  json["suppressed"] = totals.suppressed;
  json["dense_cycles"] = totals.dense_cycles;
  json["speedup"] = number(totals.speedup);
  json["utilization"] = number(totals.utilization);
  json["time_s"] = number(totals.seconds);
  json["tops"] = number(totals.tops);
  json["dense_equivalent_tops"] = number(totals.dense_tops);
  add_energy(json, totals.energy, totals.cost);
  json["elements"] = totals.elements;
  json["min_sqnr_db"] = number(totals.min_sqnr_db);
  json["median_sqnr_db"] = number(totals.median_sqnr_db);
  json["exact_products"] = totals.exact;
  json["nonfinite"] = totals.nonfinite;
  json["overflow"] = totals.overflow;
  json["underflow"] = totals.underflow;
  json["flushed_to_zero"] = totals.flushed_to_zero;
  return json;
}

Json all_totals_json(const ReportTotals& totals) {
  Json json = totals_json(totals.overall);
  json["images_per_second"] = number(totals.images_per_second);
  json["gradient_sparsity"] = number(totals.gradient_sparsity);
  json["ideal_speedup"] = number(ideal_speedup(totals.gradient_sparsity));
  Json passes = Json::object();
  for (std::size_t i = 0; i < reported_passes.size(); ++i)
    passes[std::string(name_of(reported_passes[i]))] = totals_json(totals.by_pass[i]);
  json["by_pass"] = std::move(passes);
  return json;
}

// Where a figure of a table comes from.
template <typename Figure>
Json provenance(Json json, const Figure& figure) {
  json["pj"] = number(figure.pj);
  json["kind"] = figure.derived ? "derived" : "measured";
  if (!figure.formula.empty()) json["formula"] = figure.formula;
  if (!figure.source.empty()) json["source"] = figure.source;
  return json;
}

Json table_json(const EnergyTable& table) {
  Json prices = Json::array();
  for (const auto& [action, price] : table.prices)
    prices.push_back(provenance({{"action", action}, {"component", price.component}}, price));
  Json figures = Json::array();
  for (const auto& [name, figure] : table.figures) figures.push_back(provenance({{"name", name}}, figure));
  return {{"name", table.name},
          {"source", table.source},
          {"node_nm", number(table.node_nm)},
          {"voltage_v", table.voltage_v > 0 ? number(table.voltage_v) : Json(nullptr)},
          {"clock_mhz", table.clock_mhz > 0 ? number(table.clock_mhz) : Json(nullptr)},
          {"prices", std::move(prices)},
          {"figures", std::move(figures)}};
}

template <typename Item, typename Make>
Json array_of(const std::vector<Item>& items, Make make) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(make(item));
  return json;
}

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a file's name may be any bytes
}

// One record per line, one figure of the totals: a person can read it, and a line-by-line difference shows
// what changed.
std::string lines_of_records(const Json& json) {
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
  Json json{{"mantissa_report", report_schema},
            {"version", report.version},
            {"seed", report.seed},
            {"engine", report.engine}};
  json["trace"] = {{"name", report.trace}, {"hash", report.trace_hash}};
  json["recipe"] = {{"name", report.recipe}, {"hash", report.recipe_hash}};
  json["arch"] = {{"name", report.arch},
                  {"hash", report.arch_hash},
                  {"rows", report.rows},
                  {"cols", report.cols},
                  {"clock_mhz", number(report.clock_mhz)},
                  {"peak_dram_bytes_per_cycle", number(report.peak_bytes_per_cycle)}};
  json["images"] = report.images;
  json["sampled_tiles"] = report.sampled_tiles;
  if (report.run_bits.compared > 0) {
    json["run_bits"] = {{"compared", report.run_bits.compared}, {"different", report.run_bits.different}};
  }
  json["notes"] = report.notes;
  json["totals"] = all_totals_json(totals);
  json["layers"] = array_of(report.passes, layer_json);
  json["tensors"] = array_of(report.tensors, tensor_json);
  json["gradients"] = array_of(report.gradients, gradient_json);
  json["staging"] = array_of(report.staging, [&totals](const StagingPoint& point) {
    return Json{{"depth", point.depth},
                {"port", point.port},
                {"speedup", number(point.speedup)},
                {"gradient_sparsity", number(totals.gradient_sparsity)},
                {"ideal_speedup", number(ideal_speedup(totals.gradient_sparsity))}};
  });
  json["tables"] = array_of(report.tables, table_json);
  return lines_of_records(json);
}

}  // namespace mantissa

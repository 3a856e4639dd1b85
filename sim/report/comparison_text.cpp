// How a comparison is shown: for a person, and as JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/report/compare_reports.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/text_table.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

using Align = TextTable::Align;
constexpr std::size_t layer_column = 28;

std::string value_text(const Figure& figure, const std::optional<double>& value) {
  return value ? full_text(figure, *value) : "-";
}

std::string difference_text(const Change& change) {
  const std::optional<double> difference = change.difference();
  if (!change.changed()) return "=";
  if (!difference) return "-";
  const std::string sign = *difference > 0 ? "+" : "";
  // "+3 %" of a share could mean either.
  if (change.figure->unit == "%") return sign + fixed_text(100 * *difference, 1) + " points";
  return sign + full_text(*change.figure, *difference);
}

std::string relative_text(const Change& change) {
  if (!change.changed()) return "";
  const std::optional<double> relative = change.relative();
  if (!relative || change.figure->unit == "dB") return "-";  // dB are relative already
  return (*relative > 0 ? "+" : "") + percent_text(*relative);
}

// What the change means for B.
std::string verdict(const Change& change) {
  const std::optional<double> difference = change.difference();
  if (change.figure->better == Better::neither || !difference || *difference == 0) return "";
  return (*difference < 0) == (change.figure->better == Better::smaller) ? "better" : "worse";
}

std::string label_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return path;
  const std::size_t table = path.find('.') + 1;
  return path.substr(dot + 1) + " (" + path.substr(table, dot - table) + ")";
}

std::string identity(const char* letter, const ReadReport& report) {
  return std::string(letter) + ": trace " + printable(report.trace.name) + ", recipe " +
         printable(report.recipe.name) + ", arch " + printable(report.arch.name) + ", engine " +
         printable(report.engine) + ", seed " + std::to_string(report.seed) + "\n";
}

std::string a_to_b(const LayerChange& layer, std::string_view key, bool relative) {
  for (const Change& change : layer.figures) {
    if (change.path != key) continue;
    const std::string a = value_text(*change.figure, change.a);
    if (!change.changed()) return a + " =";
    return a + " -> " + value_text(*change.figure, change.b) + " (" +
           (relative ? relative_text(change) : difference_text(change)) + ")";
  }
  return "-";
}

std::string layers_text(const std::string& title, const std::vector<const LayerChange*>& layers) {
  if (layers.empty()) return {};
  TextTable table(
      {{"step"}, {"layer", Align::left}, {"pass", Align::left}, {"cycles"}, {"energy"}, {"SQNR"}});
  for (const LayerChange* layer : layers) {
    table.row({std::to_string(layer->step), shortened_in_the_middle(printable(layer->layer), layer_column),
               layer->pass, a_to_b(*layer, "cycles", true), a_to_b(*layer, "energy_total_pj", true),
               a_to_b(*layer, "sqnr_db", false)});
  }
  return "\n" + title + "\n" + table.text(2);
}

// The first `top` by `weight`, largest first; those that did not change are left out.
std::vector<const LayerChange*> largest(const std::vector<LayerChange>& layers, double LayerChange::*weight,
                                        std::size_t top) {
  std::vector<const LayerChange*> chosen;
  for (const LayerChange& layer : layers) {
    if (layer.*weight > 0) chosen.push_back(&layer);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [weight](const LayerChange* one, const LayerChange* other) {
    return one->*weight > other->*weight;
  });
  if (top != 0 && chosen.size() > top) chosen.resize(top);
  return chosen;
}

std::string missing_text(const char* letter, const std::vector<std::string>& layers, std::size_t top) {
  if (layers.empty()) return {};
  std::string text = "\nOnly in " + std::string(letter) + " (" + std::to_string(layers.size()) + ")\n";
  const std::size_t shown = top == 0 ? layers.size() : std::min(top, layers.size());
  for (std::size_t i = 0; i < shown; ++i) text += "  " + printable(layers[i]) + "\n";
  if (shown < layers.size()) text += "  and " + std::to_string(layers.size() - shown) + " more\n";
  return text;
}

OrderedJson number(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson change_json(const Change& change) {
  return {{"a", number(change.a)},
          {"b", number(change.b)},
          {"change", number(change.difference())},
          {"relative", number(change.relative())}};
}

OrderedJson identity_json(const ReadReport& report) {
  const auto input = [](const ReportInput& of) { return OrderedJson{{"name", of.name}, {"hash", of.hash}}; };
  return {{"version", report.version},      {"seed", report.seed},
          {"engine", report.engine},        {"trace", input(report.trace)},
          {"recipe", input(report.recipe)}, {"arch", input(report.arch)}};
}

}  // namespace

std::string comparison_text(const ReadReport& a, const ReadReport& b, const Comparison& comparison,
                            std::size_t top) {
  std::string text = identity("A", a) + identity("B", b);
  for (const std::string& warning : comparison.warnings) text += "warning: " + printable(warning) + "\n";
  TextTable totals({{"Total", Align::left}, {"A"}, {"B"}, {"change"}, {"relative"}, {"B is", Align::left}});
  for (const Change& change : comparison.totals) {
    totals.row({label_of(change.path), value_text(*change.figure, change.a),
                value_text(*change.figure, change.b), difference_text(change), relative_text(change),
                verdict(change)});
  }
  text += "\n" + totals.text();
  text += layers_text("Largest changes of cost, by share of all cycles or all energy",
                      largest(comparison.layers, &LayerChange::cost_share, top));
  text += layers_text("Largest changes of accuracy",
                      largest(comparison.layers, &LayerChange::sqnr_change_db, top));
  text += missing_text("A", comparison.only_a, top) + missing_text("B", comparison.only_b, top);
  const bool same_totals = std::none_of(comparison.totals.begin(), comparison.totals.end(),
                                        [](const Change& change) { return change.changed(); });
  const bool same =
      same_totals && comparison.changed_layers == 0 && comparison.only_a.empty() && comparison.only_b.empty();
  text += same ? "\nno difference\n"
               : "\n" + std::to_string(comparison.changed_layers) + " of " +
                     std::to_string(comparison.layers.size()) + " layers and passes changed\n";
  return text;
}

std::string comparison_json(const ReadReport& a, const ReadReport& b, const Comparison& comparison) {
  OrderedJson json{{"a", identity_json(a)}, {"b", identity_json(b)}, {"warnings", comparison.warnings}};
  OrderedJson totals = OrderedJson::object();
  for (const Change& change : comparison.totals) totals[change.path] = change_json(change);
  json["totals"] = std::move(totals);
  OrderedJson layers = OrderedJson::array();
  for (const LayerChange& layer : comparison.layers) {
    OrderedJson record{{"step", layer.step}, {"layer", layer.layer}, {"pass", layer.pass}};
    bool changed = false;
    for (const Change& change : layer.figures) {
      if (!change.changed()) continue;
      record[change.path] = change_json(change);
      changed = true;
    }
    if (changed) layers.push_back(std::move(record));
  }
  json["changed_layers"] = std::move(layers);
  json["compared_layers"] = comparison.layers.size();
  json["only_in_a"] = comparison.only_a;
  json["only_in_b"] = comparison.only_b;
  return json_text(json, 2) + "\n";
}

}  // namespace mantissa

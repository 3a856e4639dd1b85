#include "sim/report/compare_reports.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace mantissa {
namespace {

// `path` is the figure's own key unless it is one of several tables.
void add(std::vector<Change>& changes, const Figure& figure, const std::string& path, const Figures& a,
         const Figures& b) {
  Change change{&figure, path, a.find(path), b.find(path)};
  if (change.a || change.b) changes.push_back(std::move(change));
}

std::string name_of(const ReportedLayer& layer) {
  return "step " + std::to_string(layer.step) + " " + layer.layer + " " + layer.pass;
}

void warn_if_different(std::vector<std::string>& warnings, const std::string& what, const ReportInput& a,
                       const ReportInput& b, const std::string& consequence) {
  if (a.hash == b.hash) return;
  const auto named = [](const ReportInput& input) {
    return input.name + " [" + input.hash.substr(0, 8) + "]";
  };
  warnings.push_back("different " + what + ": " + named(a) + " and " + named(b) + consequence);
}

double magnitude(const std::optional<double>& value) { return value ? std::abs(*value) : 0; }

const Change* find(const std::vector<Change>& changes, std::string_view key) {
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [key](const Change& change) { return change.path == key; });
  return found == changes.end() ? nullptr : &*found;
}

double changed_share(const std::vector<Change>& changes, const char* figure, double whole) {
  const Change* change = find(changes, figure);
  return change == nullptr || whole <= 0 ? 0 : magnitude(change->difference()) / whole;
}

// An SQNR that appears or goes away (exact, undefined) counts above every number.
double sqnr_change(const std::vector<Change>& changes) {
  const Change* change = find(changes, "sqnr_db");
  if (change == nullptr || !change->changed()) return 0;
  return change->difference() ? std::abs(*change->difference()) : HUGE_VAL;
}

}  // namespace

std::optional<double> Change::difference() const {
  return a && b ? std::optional<double>(*b - *a) : std::nullopt;
}

std::optional<double> Change::relative() const {
  if (!a || !b || *a == 0) return std::nullopt;
  return (*b - *a) / std::abs(*a);
}

Comparison compare(const ReadReport& a, const ReadReport& b) {
  Comparison result;
  for (const std::string& warning : a.warnings) result.warnings.push_back("A: " + warning);
  for (const std::string& warning : b.warnings) result.warnings.push_back("B: " + warning);
  warn_if_different(result.warnings, "traces", a.trace, b.trace, "; the figures are of different work");
  if (a.seed != b.seed) {
    result.warnings.push_back("different seeds: " + std::to_string(a.seed) + " and " +
                              std::to_string(b.seed) + "; part of a difference in accuracy may be chance");
  }
  if (a.version != b.version)
    result.warnings.push_back("different versions of mantissa: " + a.version + " and " + b.version);
  for (const Figure* figure : placed(&Figure::compare)) {
    if (!figure->energy()) add(result.totals, *figure, std::string(figure->key), a.totals, b.totals);
  }
  std::vector<std::string> tables = a.tables;
  for (const std::string& table : b.tables) {
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
  }
  for (const std::string& table : tables) {
    for (const Figure* figure : placed(&Figure::compare)) {
      const std::string path = "energy_by_table." + table + "." + std::string(figure->key);
      if (figure->energy()) add(result.totals, *figure, path, a.totals, b.totals);
    }
  }

  std::map<std::tuple<std::uint64_t, std::string, std::string>, const ReportedLayer*> of_b;
  for (const ReportedLayer& layer : b.layers) of_b.emplace(layer.key(), &layer);
  const double all_cycles = magnitude(a.totals.find("cycles"));
  const double all_energy = magnitude(a.totals.find("energy_total_pj"));
  for (const ReportedLayer& layer : a.layers) {
    const auto found = of_b.find(layer.key());
    if (found == of_b.end()) {
      result.only_a.push_back(name_of(layer));
      continue;
    }
    LayerChange change{.step = layer.step, .layer = layer.layer, .pass = layer.pass, .figures = {}};
    for (const Figure* figure : placed(&Figure::compare_passes))
      add(change.figures, *figure, std::string(figure->key), layer.figures, found->second->figures);
    of_b.erase(found);
    change.cost_share = std::max(changed_share(change.figures, "cycles", all_cycles),
                                 changed_share(change.figures, "energy_total_pj", all_energy));
    change.sqnr_change_db = sqnr_change(change.figures);
    if (std::any_of(change.figures.begin(), change.figures.end(),
                    [](const Change& figure) { return figure.changed(); })) {
      ++result.changed_layers;
    }
    result.layers.push_back(std::move(change));
  }
  for (const ReportedLayer& layer : b.layers) {
    if (of_b.count(layer.key()) != 0) result.only_b.push_back(name_of(layer));
  }
  return result;
}

}  // namespace mantissa

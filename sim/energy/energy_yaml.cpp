#include "sim/energy/energy_yaml.hpp"

#include <cmath>
#include <sstream>

#include "sim/energy/formula.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/yaml_reader.hpp"

namespace mantissa {
namespace {

// A megajoule per action is more than any table means.
constexpr Limits<double> energies{0, 1e18};

// Two of each kind: what is wrong with a formula shows before a run.
std::string trial(const std::string& pattern, bool large) {
  std::string action;
  std::istringstream words(pattern);
  for (std::string word; words >> word;) {
    if (word == "FORMAT") word = large ? "fp32" : "e2m1";
    if (word == "INTEGER") word = large ? "int128" : "int4";
    if (word == "COUNT") word = large ? "1073741824" : "1";
    action += (action.empty() ? "" : " ") + word;
  }
  return action;
}

struct Value {
  double pj = 0;
  bool derived = false;
  std::string formula;
  std::string source;
};

// `pj: NUMBER`, or `formula: TEXT` of figures; a formula that is one measured figure is that figure.
Value read_value(YamlMap& map, const EnergyTable& table, bool evaluate) {
  Value value;
  map.read("source", value.source);
  map.read("formula", value.formula);
  if (map.has("pj") == map.has("formula"))
    map.refuse(map.has("pj") ? "pj" : "source", "give either pj, a number, or formula");
  map.read("pj", value.pj, energies);
  if (const auto figure = table.figures.find(value.formula); figure != table.figures.end()) {
    value = {figure->second.pj, figure->second.derived, figure->second.formula,
             value.source.empty() ? figure->second.source : value.source};
  } else if (!value.formula.empty()) {
    value.derived = true;
    if (evaluate) {
      const auto figure_named = [&](std::string_view name) -> std::optional<double> {
        const auto found = table.figures.find(name);
        return found == table.figures.end() ? std::nullopt : std::optional(found->second.pj);
      };
      map.read_with("formula", value.pj,
                    [&](const std::string& text) { return evaluate_formula(text, figure_named); });
      if (!std::isfinite(value.pj) || value.pj < 0) map.refuse("formula", "the formula gives no energy");
    }
  }
  if (value.source.empty()) map.require("source");
  return value;
}

void read_figures(YamlMap& root, EnergyTable& table) {
  for (auto& [name, map] : root.named_maps("figures")) {
    const Value value = read_value(map, table, true);
    map.finish();
    table.figures[name] = {value.pj, value.derived, value.formula, value.source};
  }
}

void read_prices(YamlMap& root, EnergyTable& table) {
  std::string component;
  for (auto& [action, map] : root.named_maps("prices")) {
    map.require("component");
    map.read_word<std::string>("component", component,
                               {{"multiply", "multiply"},
                                {"accumulate", "accumulate"},
                                {"staging", "staging"},
                                {"sram", "sram"},
                                {"dram", "dram"},
                                {"quantize", "quantize"},
                                {"random", "random"},
                                {"prune", "prune"},
                                {"norm", "norm"}});
    const bool pattern = is_price_pattern(action);
    Value value = read_value(map, table, !pattern);
    map.finish();
    if (!pattern) {
      table.prices[action] = {value.pj, value.derived, component, value.formula, value.source};
      continue;
    }
    // A rule says how it depends on its parameters; a constant is a formula too.
    std::string formula;
    map.read("formula", formula);
    if (formula.empty()) map.refuse("pj", "a price with FORMAT, INTEGER or COUNT needs a formula");
    table.rules.push_back({action, component, formula, value.source});
    map.checked([&] {
      for (const bool large : {false, true})
        price_by(table.rules.back(), table.figures, trial(table.rules.back().pattern, large));
    });
  }
}

}  // namespace

EnergyTable read_energy_table(const YamlDocument& document) {
  EnergyTable table;
  YamlMap root(document, "energy table");
  for (const char* key : {"name", "source", "node_nm", "prices"}) root.require(key);
  root.read("name", table.name);
  root.read("source", table.source);
  root.read("node_nm", table.node_nm, {1, 1000});
  root.read("voltage_v", table.voltage_v, {0, 10});
  root.read("clock_mhz", table.clock_mhz, {0, 1e6});
  read_figures(root, table);
  read_prices(root, table);
  root.finish();
  return table;
}

EnergyTable parse_energy_table(std::string_view text, const std::string& file) {
  return read_energy_table(YamlDocument(text, file));
}

Loaded<EnergyTable> load_energy_table(const std::string& name_or_path) {
  const ConfigFile file = find_config(ConfigKind::energy, name_or_path);
  return {parse_energy_table(file.text, file.path.string()), sha256(file.text), file.origin};
}

}  // namespace mantissa

// Prices of what the accelerator does. The simulator counts actions; a table prices them and says where each
// price comes from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

// "multiply e5m2 e5m2", "accumulate fp32", "dram byte", ...: energy_actions.hpp lists them.
using ActionCounts = std::map<std::string, std::uint64_t>;

struct ActionPrice {
  double pj = 0;
  bool derived = false;   // computed from other figures by `formula`, not measured
  std::string component;  // "multiply", "accumulate", "staging", "sram", "dram", "quantize", ...
  std::string formula;    // of a derived price
  std::string source;
};

// A figure that formulas refer to by its name; not an action by itself.
struct EnergyFigure {
  double pj = 0;
  bool derived = false;
  std::string formula;
  std::string source;
};

// The price of a family of actions: "multiply FORMAT FORMAT", "accumulate INTEGER", "sram byte COUNT". Words
// in capitals are parameters; the formula sees them by their place, from 1:
//   FORMAT   a floating-point format: p1 bits of significand with the hidden one, e1 of exponent, w1 in all
//   INTEGER  intN or uintN: w1 bits
//   COUNT    a whole number: n1
struct PriceRule {
  std::string pattern;
  std::string component;
  std::string formula;
  std::string source;
};
bool is_price_pattern(std::string_view action);

using EnergyFigures = std::map<std::string, EnergyFigure, std::less<>>;

// Nothing where the action is not of the rule's family. Throws std::invalid_argument for a formula that has
// an unknown name or gives no energy.
std::optional<ActionPrice> price_by(const PriceRule& rule, const EnergyFigures& figures,
                                    std::string_view action);

struct EnergyTable {
  std::string name;
  std::string source;
  double node_nm = 0;
  double voltage_v = 0;  // 0: not stated
  double clock_mhz = 0;  // at which the figures hold; 0: not stated
  std::map<std::string, ActionPrice> prices;
  EnergyFigures figures;
  std::vector<PriceRule> rules;  // for actions that have no price of their own; the first that fits
};

struct EnergyComponent {
  std::string name;
  double pj = 0;
  double derived_pj = 0;  // of which rests on derived prices
};

struct Energy {
  std::string table;
  std::vector<EnergyComponent> components;  // in the order of the component's name
  // Parts are all that is known where the machine was modelled without its memory: a sum of them would pass
  // for the energy of a machine.
  bool has_total = true;

  // Of the parts, also where these are not all.
  double total_pj() const;
  double derived_pj() const;
  // Throws std::invalid_argument for energies of different tables; one without a table takes the other's.
  Energy& operator+=(const Energy& other);
};

// From the table's prices, else by its rules. Throws std::invalid_argument that names an action without a
// price: it is never free.
ActionPrice price_of(const EnergyTable& table, const std::string& action);

// Throws as above, also for an action that was counted 0 times.
Energy price(const EnergyTable& table, const ActionCounts& counts);

// The same table with exactly the prices that these counts need, rules worked out: what a report shows.
EnergyTable priced_for(const EnergyTable& table, const ActionCounts& counts);

}  // namespace mantissa

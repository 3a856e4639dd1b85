// Prices of what the accelerator does. The simulator counts actions; a table prices them and says where each
// price comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

// "multiply e5m2 e5m2", "accumulate fp32", "sram byte", ...: energy_actions.hpp lists them.
using ActionCounts = std::map<std::string, std::uint64_t>;

struct ActionPrice {
  double pj = 0;
  bool derived = false;   // computed from other figures by `formula`, not measured
  std::string component;  // "multiply", "accumulate", "staging", "sram", "dram", "quantize", ...
  std::string formula;    // of a derived price
  std::string source;
};

struct EnergyTable {
  std::string name;
  std::string source;
  double node_nm = 0;
  double voltage_v = 0;
  double clock_mhz = 0;  // at which the figures hold; 0: not stated
  std::map<std::string, ActionPrice> prices;
};

struct EnergyComponent {
  std::string name;
  double pj = 0;
  double derived_pj = 0;  // of which rests on derived prices
};

struct Energy {
  std::string table;
  std::vector<EnergyComponent> components;  // in the order of the component's name

  double total_pj() const;
  double derived_pj() const;
  Energy& operator+=(const Energy& other);
};

// Throws std::invalid_argument that names an action without a price: it is never free.
Energy price(const EnergyTable& table, const ActionCounts& counts);

}  // namespace mantissa

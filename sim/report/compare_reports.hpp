// What changed from one report to another: totals first, then the layers and passes that changed most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.hpp"
#include "sim/report/report_reader.hpp"

namespace mantissa {

struct Change {
  const Figure* figure = nullptr;
  std::string path;         // in the report: "cycles", "energy_by_table.horowitz45.energy_total_pj"
  std::optional<double> a;  // nothing: not defined there
  std::optional<double> b;

  std::optional<double> difference() const;  // b - a
  std::optional<double> relative() const;    // of a
  bool changed() const { return a != b; }
};

struct LayerChange {
  std::uint64_t step = 0;
  std::string layer;
  std::string pass;
  std::vector<Change> figures;  // cycles, energy, SQNR, ...: those that the tables show
  double cost_share = 0;        // the larger of its share of all cycles and of all energy of A that changed
  double sqnr_change_db = 0;    // magnitude
};

struct Comparison {
  std::vector<std::string> warnings;  // reports that answer different questions
  std::vector<Change> totals;
  std::vector<LayerChange> layers;  // in both, in the order of A
  std::vector<std::string> only_a;  // "step 0 conv1 forward"
  std::vector<std::string> only_b;
  std::size_t changed_layers = 0;
};

Comparison compare(const ReadReport& a, const ReadReport& b);

// `top` limits the layers that are listed for each reason; 0: all.
std::string comparison_text(const ReadReport& a, const ReadReport& b, const Comparison& comparison,
                            std::size_t top);
// Every layer and figure that changed.
std::string comparison_json(const ReadReport& a, const ReadReport& b, const Comparison& comparison);

}  // namespace mantissa

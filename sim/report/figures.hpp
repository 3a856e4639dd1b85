// The figures of a replay, one row each: name, unit, how people see it, what it means, where it appears, and
// where its value comes from. JSON, CSV, tables, comparison and page are made from these rows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/report/totals.hpp"

namespace mantissa {

using FigureValue = std::variant<std::uint64_t, double>;
inline double as_double(const FigureValue& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

// Where the value comes from. A figure is in report.json wherever it is defined.
struct FigureSource {
  std::function<FigureValue(const GemmCycles&)> cost{};              // of a pass, and of totals
  std::function<double(const Energy&, const GemmCycles&)> energy{};  // the same, by each table of prices
  std::function<FigureValue(const Accuracy&)> accuracy{};            // of a pass's result, and of a tensor
  std::function<FigureValue(const PassReport&)> pass{};
  std::function<FigureValue(const Totals&)> totals{};
  std::function<FigureValue(const StepFigures&)> steps{};  // of whole steps: of each, and of all
};

// A column of a table that people read. Shown is the number, or its share of Figure::whole, or the same in
// whole percent behind its neighbour of the same title: "52/34/8"; or no column, but a line below the table.
struct Column {
  enum class Show { number, share, joined, line };
  int place = 0;
  std::string_view title{};
  Show show = Show::number;
};

enum class Better { neither, smaller, larger };

// A place is a rank among the figures of that output, equal ones in the order of the rows; 0: not there.
struct Figure {
  std::string_view key;   // in report.json
  std::string_view unit;  // of what people see
  int decimals = 0;       // 0: a prefix, or per cent
  Better better = Better::neither;
  int csv = 0;
  int compare = 0;         // totals
  int compare_passes = 0;  // every pass
  Column pass{};           // terminal: passes
  Column total{};          // terminal: totals
  Column page{};           // report.html: passes
  FigureSource of{};
  std::string_view meaning{};
  std::vector<std::string_view> whole{};  // keys whose sum a share is of
  bool products_only = false;             // not shown of a batch norm
  std::string_view exact{};               // key beside it: whether it is null because it is infinite

  bool energy() const { return static_cast<bool>(of.energy); }
};

// In the order of report.json.
const std::vector<Figure>& figures();
// Those with a place there, in its order.
std::vector<const Figure*> placed(int Figure::*output);
std::vector<const Figure*> placed(Column Figure::*table);

// Energy is that of the architecture's own table. Nothing where the figure is not defined.
std::optional<FigureValue> value_of(const Figure& figure, const PassReport& pass);
std::optional<FigureValue> value_of(const Figure& figure, const Totals& totals);
std::optional<FigureValue> value_of(const Figure& figure, const StepFigures& steps);

// A cell of a table, whose heading has the unit.
std::string cell_text(const Figure& figure, Column::Show show, const PassReport& pass);
std::string cell_text(const Figure& figure, Column::Show show, const Totals& totals);
// With the unit, and one more decimal, for a comparison.
std::string full_text(const Figure& figure, double value);

// The columns of report.html, as JSON for tools/plot.
std::string page_columns();

}  // namespace mantissa

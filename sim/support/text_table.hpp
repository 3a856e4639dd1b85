// Tables for a terminal: aligned columns, figures in human units, text that cannot harm a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mantissa {

// Three significant digits and a prefix: 1234567 -> "1.23M", 999 -> "999". NaN is "-".
std::string with_prefix(double value);
// 1500 -> "1.50 kB".
std::string bytes_text(double bytes);
// 1500 pJ -> "1.50 nJ"; from fJ to kJ.
std::string energy_text(double pj);
// 0.0015 s -> "1.50 ms".
std::string time_text(double seconds);
// Operations per second: 2.5e9 -> "2.50 GOPS".
std::string operations_text(double per_second);
// Digits behind the point as asked for; "-" for NaN.
std::string fixed_text(double value, int decimals);
// 0.123 -> "12.3%".
std::string percent_text(double share);

class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };
  // Titles and cells may hold any text: a table makes it printable().
  explicit TextTable(std::vector<Column> columns);

  void row(std::vector<std::string> cells);
  // A line of dashes above the next row.
  void rule() { rows_.push_back({{}, true}); }
  // Every line begins with `indent` spaces; no line ends in one.
  std::string text(std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool rule = false;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace mantissa

#include "sim/support/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

struct Prefix {
  double factor;
  const char* name;
};

// Three significant digits; the prefix is chosen after rounding, so that 999.9 k is 1.00 M.
std::string scaled(double value, std::span<const Prefix> prefixes, const char* between) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double magnitude = std::abs(value);
  const Prefix* chosen = &prefixes.front();
  constexpr double rounds_up = 0.9995;
  for (const Prefix& prefix : prefixes) {
    if (magnitude >= prefix.factor * rounds_up) chosen = &prefix;
  }
  const double shown = value / chosen->factor;
  const double size = std::abs(shown);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::string text = fixed_text(shown, decimals);
  if (*between == '\0' && *chosen->name == '\0' && magnitude == std::floor(magnitude) && magnitude < 1000)
    text = fixed_text(value, 0);
  return text + between + chosen->name;
}

}  // namespace

std::string with_prefix(double value) {
  static constexpr std::array<Prefix, 6> prefixes{
      {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};
  return scaled(value, prefixes, "");
}

std::string bytes_text(double bytes) {
  static constexpr std::array<Prefix, 5> prefixes{
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return scaled(bytes, prefixes, " ");
}

std::string energy_text(double pj) {
  static constexpr std::array<Prefix, 7> prefixes{
      {{1e-3, "fJ"}, {1, "pJ"}, {1e3, "nJ"}, {1e6, "uJ"}, {1e9, "mJ"}, {1e12, "J"}, {1e15, "kJ"}}};
  return scaled(pj, pj == 0 ? std::span<const Prefix>(prefixes).subspan(1) : prefixes, " ");
}

std::string time_text(double seconds) {
  static constexpr std::array<Prefix, 4> prefixes{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
  return scaled(seconds, prefixes, " ");
}

std::string operations_text(double per_second) {
  static constexpr std::array<Prefix, 5> prefixes{
      {{1, "OPS"}, {1e3, "kOPS"}, {1e6, "MOPS"}, {1e9, "GOPS"}, {1e12, "TOPS"}}};
  return scaled(per_second, prefixes, " ");
}

std::string fixed_text(double value, int decimals) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, decimals);
}

std::string percent_text(double share) { return std::isnan(share) ? "-" : fixed_text(100 * share, 1) + "%"; }

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = printable(column.title);
}

void TextTable::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), false});
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (const Column& column : columns_) widths.push_back(width_of(column.title));
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::left ? cells[i] + padding : padding + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::vector<std::string> titles;
  std::vector<std::string> dashes;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    dashes.emplace_back(widths[i], '-');
  }
  add_line(titles);
  add_line(dashes);
  for (const Row& row : rows_) add_line(row.rule ? dashes : row.cells);
  return text;
}

}  // namespace mantissa

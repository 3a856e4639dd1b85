#include "sim/support/text_table.hpp"

#include <algorithm>
#include <utility>

namespace mantissa {
namespace {

// In characters, not in bytes: continuation bytes of UTF-8 take no room.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> heading, std::size_t left) : left_(left) {
  rows_.push_back(std::move(heading));
}

void TextTable::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string room(widths[i] - shown_width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < left_ ? row[i] + room : room + row[i]);
    }
    text.append(line, 0, line.find_last_not_of(' ') + 1).append("\n");
  }
  return text;
}

}  // namespace mantissa

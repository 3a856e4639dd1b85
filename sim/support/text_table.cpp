#include "sim/support/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace mantissa {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // U+2026

bool continues(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// Bytes of the well-formed sequence at the start of `text`, 0 where there is none (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(at(1)) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return at(1) >= low && at(1) <= high && continues(at(2)) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    return at(1) >= low && at(1) <= high && continues(at(2)) && continues(at(3)) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

void append_escaped(std::string& text, std::string_view sequence) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(sequence.back());  // C1: the last byte is the code point
  text.append("\\x").append(1, digits[code >> 4]).append(1, digits[code & 15]);
}

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

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      result += replacement;
    } else if (is_control(sequence)) {
      append_escaped(result, sequence);
    } else {
      result += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !continues(static_cast<unsigned char>(c)); }));
}

std::string shortened_in_the_middle(std::string_view text, std::size_t width) {
  const std::size_t length = width_of(text);
  if (length <= width || width == 0) return std::string(text);
  // The end tells layers apart more often than the beginning does.
  const std::size_t head = (width - 1) / 3;
  const std::size_t tail = width - 1 - head;
  std::string result;
  std::size_t character = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && !continues(static_cast<unsigned char>(text[i]))) ++character;
    if (character == head && !continues(static_cast<unsigned char>(text[i]))) result += ellipsis;
    if (character < head || character >= length - tail) result += text[i];
  }
  return result;
}

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

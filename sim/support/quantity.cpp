#include "sim/support/quantity.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

struct Name {
  std::string_view text;
  std::int64_t size;
};
constexpr std::int64_t kilo = 1000;
constexpr std::int64_t kibi = 1024;
// Ascending.
constexpr Name bytes[] = {{"B", 1},
                          {"kB", kilo},
                          {"KiB", kibi},
                          {"MB", kilo* kilo},
                          {"MiB", kibi* kibi},
                          {"GB", kilo* kilo* kilo},
                          {"GiB", kibi* kibi* kibi}};
constexpr Name rates[] = {{"B/s", 1},
                          {"kB/s", kilo},
                          {"MB/s", kilo* kilo},
                          {"GB/s", kilo* kilo* kilo},
                          {"TB/s", kilo* kilo* kilo* kilo}};
constexpr Name times[] = {{"ps", 1}, {"ns", kilo}, {"us", kilo* kilo}, {"ms", kilo* kilo* kilo}};
constexpr Name frequencies[] = {{"Hz", 1}, {"kHz", kilo}, {"MHz", kilo* kilo}, {"GHz", kilo* kilo* kilo}};

std::span<const Name> names_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return bytes;
    case Unit::bytes_per_second:
      return rates;
    case Unit::picoseconds:
      return times;
    case Unit::hertz:
      return frequencies;
  }
  throw std::logic_error("a unit without names");
}

std::string_view example_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "64KiB";
    case Unit::bytes_per_second:
      return "4GB/s";
    case Unit::picoseconds:
      return "80ns";
    case Unit::hertz:
      return "500MHz";
  }
  throw std::logic_error("a unit without an example");
}

[[noreturn]] void refuse(std::string_view text, Unit unit) {
  std::string known;
  for (const Name& name : names_of(unit)) known += (known.empty() ? "" : ", ") + std::string(name.text);
  throw std::invalid_argument(in_quotes(text) + " is not a number with a unit, such as " +
                              std::string(example_of(unit)) + "; units: " + known);
}

}  // namespace

std::int64_t parse_quantity(std::string_view text, Unit unit) {
  constexpr auto most = static_cast<__int128>(std::numeric_limits<std::int64_t>::max());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  __int128 digits = 0;
  std::int64_t parts = 1;  // a digit behind the point is a tenth of the one before
  std::size_t at = 0;
  std::size_t point = std::string_view::npos;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && point == std::string_view::npos));
       ++at) {
    if (text[at] == '.') {
      point = at;
      continue;
    }
    digits = 10 * digits + (text[at] - '0');
    if (point != std::string_view::npos) parts *= 10;
    if (digits > most || parts > kilo * kilo * kilo * kilo) refuse(text, unit);
  }
  if (at == 0 || point == 0 || point == at - 1) refuse(text, unit);
  std::string_view word = text.substr(at);
  if (!word.empty() && word.front() == ' ') word.remove_prefix(1);
  for (const Name& name : names_of(unit)) {
    if (name.text != word) continue;
    const __int128 size = digits * name.size;
    if (size % parts != 0 || size / parts > most) refuse(text, unit);
    return static_cast<std::int64_t>(size / parts);
  }
  refuse(text, unit);
}

std::string quantity_text(std::int64_t value, Unit unit) {
  const Name* best = &names_of(unit).front();
  for (const Name& name : names_of(unit)) {
    if (value != 0 && value % name.size == 0) best = &name;
  }
  return std::to_string(value / best->size) + std::string(best->text);
}

}  // namespace mantissa

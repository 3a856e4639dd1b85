#include "models/format/format.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>

namespace mantissa {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  throw std::invalid_argument(
      "unknown format '" + std::string(name) + "': " + why +
      "; allowed: e5m2, e4m3, e3m2, e2m3, e2m1, fp16, bf16, fp32 and any eXmY with X 2..8 and Y 0..23, "
      "each with suffixes :ieee, :fn, :finite, :fnuz, :bias=N");
}

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string base_name(const Format& format) {
  return "e" + std::to_string(format.exponent_bits) + "m" + std::to_string(format.mantissa_bits);
}

Format parse_base(std::string_view base, std::string_view whole) {
  for (const NamedFormat& named : named_formats) {
    if (named.name == base) return named.format;
  }
  const std::size_t m = base.find('m');
  if (base.size() < 4 || base.front() != 'e' || m == std::string_view::npos)
    refuse(whole, "not of the form eXmY");
  const std::optional<int> x = parse_int(base.substr(1, m - 1));
  const std::optional<int> y = parse_int(base.substr(m + 1));
  if (!x || !y) refuse(whole, "not of the form eXmY");
  if (*x < 2 || *x > 8) refuse(whole, "exponent bits must be 2..8");
  if (*y < 0 || *y > 23) refuse(whole, "mantissa bits must be 0..23");
  const Format format{*x, *y, (1 << (*x - 1)) - 1, Specials::ieee};
  // One spelling only: "e04m3" must not become an e4m3 that is not the named one.
  if (base != base_name(format)) refuse(whole, "not of the form eXmY");
  return format;
}

void apply_suffix(Format& format, std::string_view suffix, std::string_view whole) {
  if (suffix == "ieee") {
    format.specials = Specials::ieee;
  } else if (suffix == "fn") {
    format.specials = Specials::fn;
  } else if (suffix == "finite") {
    format.specials = Specials::finite;
  } else if (suffix == "fnuz") {
    format.specials = Specials::fnuz;
    format.bias = 1 << (format.exponent_bits - 1);
  } else if (suffix.substr(0, 5) == "bias=") {
    const std::optional<int> bias = parse_int(suffix.substr(5));
    if (!bias || *bias < Format::min_bias || *bias > Format::max_bias) {
      refuse(whole, "bias must be a whole number from -256 to 512");
    }
    format.bias = *bias;
  } else {
    refuse(whole, "no suffix ':" + std::string(suffix) + "'");
  }
}

std::string_view suffix_name(Specials specials) {
  switch (specials) {
    case Specials::ieee:
      return "ieee";
    case Specials::fn:
      return "fn";
    case Specials::finite:
      return "finite";
    case Specials::fnuz:
      return "fnuz";
  }
  return "";
}

}  // namespace

void refuse_specials(Specials unknown) {
  throw std::invalid_argument("special codes of kind " + std::to_string(static_cast<int>(unknown)) +
                              " do not exist; allowed: ieee, fn, finite, fnuz");
}

Format Format::parse(std::string_view name) {
  std::size_t colon = name.find(':');
  Format format = parse_base(name.substr(0, colon), name);
  while (colon != std::string_view::npos) {
    const std::size_t next = name.find(':', colon + 1);
    apply_suffix(format, name.substr(colon + 1, next == std::string_view::npos ? next : next - colon - 1),
                 name);
    colon = next;
  }
  return format;
}

std::string Format::name() const {
  for (const NamedFormat& named : named_formats) {
    if (named.format == *this) return std::string(named.name);
  }
  std::string text = base_name(*this);
  Format reached = parse_base(text, text);
  if (reached.specials != specials) {
    text += ':';
    text += suffix_name(specials);
    apply_suffix(reached, suffix_name(specials), text);
  }
  if (reached.bias != bias) text += ":bias=" + std::to_string(bias);
  return text;
}

}  // namespace mantissa

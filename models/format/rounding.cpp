#include "models/format/rounding.hpp"

#include <charconv>
#include <stdexcept>

namespace mantissa {

namespace {

constexpr int max_random_bits = 32;

// The table is in the order of the enumerators.
static_assert([] {
  for (std::size_t i = 0; i < rounding_modes.size(); ++i) {
    if (static_cast<std::size_t>(rounding_modes[i].mode) != i) return false;
  }
  return true;
}());

}  // namespace

Rounding Rounding::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const RoundingTraits& known : rounding_modes) {
    if (text.substr(0, colon) != known.name || known.draws == (colon == std::string_view::npos)) continue;
    if (!known.draws) return {known.mode, 0};
    const std::string_view digits = text.substr(colon + 1);
    int bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (whole && bits >= 1 && bits <= max_random_bits) return {known.mode, bits};
  }
  throw std::invalid_argument("unknown rounding '" + std::string(text) + "'; allowed: " + rounding_names() +
                              " (r random bits, 1..32)");
}

std::string Rounding::name() const {
  const RoundingTraits& traits = traits_of(mode);
  std::string name(traits.name);
  return traits.draws ? name + ":" + std::to_string(random_bits) : name;
}

void Rounding::check() const {
  if (stochastic() ? random_bits < 1 || random_bits > max_random_bits : random_bits != 0) {
    throw std::invalid_argument((stochastic() ? "stochastic rounding takes 1..32" : name() + " takes no") +
                                std::string(" random bits, not ") + std::to_string(random_bits));
  }
}

void refuse_rounding_mode(int number) {
  throw std::invalid_argument("rounding mode " + std::to_string(number) +
                              " does not exist; allowed: " + rounding_names());
}

Rounding::Mode rounding_mode(int number) {
  if (number < 0 || number >= static_cast<int>(rounding_modes.size())) refuse_rounding_mode(number);
  return rounding_modes[number].mode;
}

std::string rounding_names(RoundingFilter wanted) {
  std::string names;
  for (const RoundingTraits& mode : rounding_modes) {
    if (!wanted(mode)) continue;
    if (!names.empty()) names += ", ";
    names += std::string(mode.name) + (mode.draws ? ":r" : "");
  }
  return names;
}

Overflow parse_overflow(std::string_view text) {
  if (text == "ieee") return Overflow::ieee;
  if (text == "saturate") return Overflow::saturate;
  throw std::invalid_argument("unknown overflow mode '" + std::string(text) + "'; allowed: ieee, saturate");
}

Flush parse_flush(std::string_view text) {
  if (text == "none") return {};
  if (text == "input") return {true, false};
  if (text == "output") return {false, true};
  if (text == "both") return {true, true};
  throw std::invalid_argument("unknown flush option '" + std::string(text) +
                              "'; allowed: none, input, output, both");
}

}  // namespace mantissa

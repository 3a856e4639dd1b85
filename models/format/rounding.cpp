#include "models/format/rounding.hpp"

#include <charconv>
#include <stdexcept>

namespace mantissa {

Rounding Rounding::parse(std::string_view text) {
  if (text == "rne") return rne();
  if (text == "rtz") return rtz();
  if (text.substr(0, 3) == "sr:") {
    const std::string_view digits = text.substr(3);
    int bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error == std::errc() && end == digits.data() + digits.size() && bits >= 1 && bits <= 32)
      return sr(bits);
  }
  throw std::invalid_argument("unknown rounding '" + std::string(text) +
                              "'; known are rne, rtz, sr:r with r random bits, 1..32");
}

std::string Rounding::name() const {
  switch (mode) {
    case Mode::rne:
      return "rne";
    case Mode::rtz:
      return "rtz";
    case Mode::sr:
      return "sr:" + std::to_string(random_bits);
  }
  return "";
}

Overflow parse_overflow(std::string_view text) {
  if (text == "ieee") return Overflow::ieee;
  if (text == "saturate") return Overflow::saturate;
  throw std::invalid_argument("unknown overflow mode '" + std::string(text) + "'; known are ieee, saturate");
}

Flush parse_flush(std::string_view text) {
  if (text == "none") return {};
  if (text == "input") return {true, false};
  if (text == "output") return {false, true};
  if (text == "both") return {true, true};
  throw std::invalid_argument("unknown flush option '" + std::string(text) +
                              "'; known are none, input, output, both");
}

}  // namespace mantissa

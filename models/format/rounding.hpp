// How an exact value becomes a code: rounding mode, overflow mode, flushing of subnormals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace mantissa {

struct Rounding {
  enum class Mode : std::uint8_t { rne, rtz, sr, rna, rnz };  // numbered as in mantissa_pkg.sv
  Mode mode = Mode::rne;
  int random_bits = 0;  // sr only: 1..32

  static constexpr Rounding rne() { return {Mode::rne, 0}; }
  static constexpr Rounding rtz() { return {Mode::rtz, 0}; }
  static constexpr Rounding sr(int random_bits) { return {Mode::sr, random_bits}; }
  static constexpr Rounding rna() { return {Mode::rna, 0}; }
  static constexpr Rounding rnz() { return {Mode::rnz, 0}; }

  constexpr bool nearest() const;     // never more than half a quantum away
  constexpr bool stochastic() const;  // takes R
  // R (ARITHMETIC.md 3) is the low random_bits of a draw.
  constexpr std::uint32_t random_mask() const {
    return random_bits >= 32 ? 0xFFFFFFFFU : (1U << random_bits) - 1U;
  }
  friend constexpr bool operator==(const Rounding&, const Rounding&) = default;

  // "rne", "rtz", "sr:8". Throws std::invalid_argument with what exists.
  static Rounding parse(std::string_view text);
  std::string name() const;
  // Throws std::invalid_argument for a mode that does not exist and for random bits that it cannot have.
  void check() const;
};

// What there is to know of a mode, beside the decision itself (round.hpp).
struct RoundingTraits {
  Rounding::Mode mode;
  std::string_view name;  // a mode that draws is written with its random bits: "sr:8"
  bool nearest;
  bool draws;
  bool stops_at_max;  // overflow `ieee` gives the largest finite number, not Inf
};

// All modes, in the order of their numbers: names in texts and options come from here.
inline constexpr std::array rounding_modes{
    RoundingTraits{
        .mode = Rounding::Mode::rne, .name = "rne", .nearest = true, .draws = false, .stops_at_max = false},
    RoundingTraits{
        .mode = Rounding::Mode::rtz, .name = "rtz", .nearest = false, .draws = false, .stops_at_max = true},
    RoundingTraits{
        .mode = Rounding::Mode::sr, .name = "sr", .nearest = false, .draws = true, .stops_at_max = false},
    RoundingTraits{
        .mode = Rounding::Mode::rna, .name = "rna", .nearest = true, .draws = false, .stops_at_max = false},
    RoundingTraits{
        .mode = Rounding::Mode::rnz, .name = "rnz", .nearest = true, .draws = false, .stops_at_max = false},
};

// The mode of a number, as RTL parameters have it. Throws std::invalid_argument where there is none.
Rounding::Mode rounding_mode(int number);
[[noreturn]] void refuse_rounding_mode(int number);

// Calls `visitor` with the mode as a constant, std::integral_constant<Rounding::Mode, ...>. A mode that does
// not exist throws std::invalid_argument.
template <class Visitor>
constexpr decltype(auto) visit_rounding(Rounding::Mode mode, Visitor&& visitor) {
  using Mode = Rounding::Mode;
  switch (mode) {
    case Mode::rne:
      return visitor(std::integral_constant<Mode, Mode::rne>());
    case Mode::rtz:
      return visitor(std::integral_constant<Mode, Mode::rtz>());
    case Mode::sr:
      return visitor(std::integral_constant<Mode, Mode::sr>());
    case Mode::rna:
      return visitor(std::integral_constant<Mode, Mode::rna>());
    case Mode::rnz:
      return visitor(std::integral_constant<Mode, Mode::rnz>());
  }
  refuse_rounding_mode(static_cast<int>(mode));
}

constexpr const RoundingTraits& traits_of(Rounding::Mode mode) {
  const auto number = static_cast<std::size_t>(mode);
  if (number >= rounding_modes.size()) refuse_rounding_mode(static_cast<int>(mode));
  return rounding_modes[number];
}
constexpr bool Rounding::nearest() const { return traits_of(mode).nearest; }
constexpr bool Rounding::stochastic() const { return traits_of(mode).draws; }

// "rne, rtz, sr:r, ...": the modes that `wanted` takes.
using RoundingFilter = bool (*)(const RoundingTraits&);
constexpr bool any_rounding(const RoundingTraits&) { return true; }
// The modes of a unit without rounding toward zero.
constexpr bool nearest_or_stochastic(const RoundingTraits& mode) { return mode.nearest || mode.draws; }
std::string rounding_names(RoundingFilter wanted = any_rounding);

enum class Overflow : std::uint8_t { ieee, saturate };
Overflow parse_overflow(std::string_view text);

// For exploration: subnormal operands, subnormal results, or both become zero of their sign.
struct Flush {
  bool input = false;
  bool output = false;
  friend constexpr bool operator==(const Flush&, const Flush&) = default;
};
Flush parse_flush(std::string_view text);

}  // namespace mantissa

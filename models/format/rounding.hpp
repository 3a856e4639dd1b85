// How an exact value becomes a code: rounding mode, overflow mode, flushing of subnormals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mantissa {

struct Rounding {
  enum class Mode : std::uint8_t { rne, rtz, sr };
  Mode mode = Mode::rne;
  int random_bits = 0;  // sr only: 1..32

  static constexpr Rounding rne() { return {Mode::rne, 0}; }
  static constexpr Rounding rtz() { return {Mode::rtz, 0}; }
  static constexpr Rounding sr(int random_bits) { return {Mode::sr, random_bits}; }

  constexpr bool stochastic() const { return mode == Mode::sr; }
  // R (ARITHMETIC.md 3) is the low random_bits of a draw.
  constexpr std::uint32_t random_mask() const {
    return random_bits >= 32 ? 0xFFFFFFFFU : (1U << random_bits) - 1U;
  }
  friend constexpr bool operator==(const Rounding&, const Rounding&) = default;

  // "rne", "rtz", "sr:8". Throws std::invalid_argument with what exists.
  static Rounding parse(std::string_view text);
  std::string name() const;
};

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

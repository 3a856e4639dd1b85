// What the options of several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "models/random/lfsr.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {

// For ->transform(): decimal numbers from `min` to `max` only, and 010 is ten. CLI11 alone would read -3 as
// 2^64 - 3 and 010 as eight.
template <typename Integer>
CLI::Validator whole_number(Integer min, Integer max) {
  return {[min, max](std::string& text) {
            Integer value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
              return in_quotes(text) + " is not a decimal whole number in " + std::to_string(min) + ".." +
                     std::to_string(max);
            }
            text = std::to_string(value);
            return std::string();
          },
          ""};
}

inline CLI::Validator whole_number() {
  return whole_number<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
}

// Of an option for a leap, 1..32: a line on standard error where the generator's draws repeat before 2^32-1
// of them.
inline void warn_of_short_period(int leap) {
  const std::uint32_t divisor = leap_period_divisor(leap);
  if (divisor == 1) return;
  std::fprintf(
      stderr, "mantissa: warning: leap %d shares the factor %u with 2^32-1: draws repeat after (2^32-1)/%u\n",
      leap, divisor, divisor);
}

}  // namespace mantissa::cli

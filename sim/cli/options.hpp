// What the options of several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

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

}  // namespace mantissa::cli

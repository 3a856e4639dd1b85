// What the options of several subcommands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/random/lfsr.hpp"
#include "sim/support/output.hpp"
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

// Whole numbers with commas between them: CLI11 alone drops what is empty between two of them.
template <typename Integer>
CLI::Option* add_numbers(CLI::App& command, const std::string& name, std::vector<Integer>& numbers,
                         Integer min, Integer max, const std::string& description) {
  const auto read = [&numbers, name, min, max](const std::vector<std::string>& texts) {
    const CLI::Validator number = whole_number(min, max);
    for (const std::string& text : texts) {
      for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
        end = text.find(',', start);
        std::string piece = text.substr(start, end == std::string::npos ? end : end - start);
        if (const std::string problem = number(piece); !problem.empty())
          throw CLI::ValidationError(name, problem);
        Integer value = 0;
        std::from_chars(piece.data(), piece.data() + piece.size(), value);
        numbers.push_back(value);
      }
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, read, description)->type_name("N,N");
}

// For ->transform(): finite decimal numbers from `min` to `max`. CLI11 alone takes nan, inf and hex, too.
inline CLI::Validator real_number(double min, double max) {
  return {[min, max](std::string& text) {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max))
              return fmt::format("{} is not a decimal number in {}..{}", in_quotes(text), min, max);
            return std::string();
          },
          ""};
}

// For ->check(): one of these words.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](std::string& text) {
            if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
            return fmt::format("{} is unknown; allowed: {}", in_quotes(text), fmt::join(words, ", "));
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
  const std::string factor = std::to_string(divisor);
  tell_user("mantissa: warning: leap " + std::to_string(leap) + " shares the factor " + factor +
            " with 2^32-1: draws repeat after (2^32-1)/" + factor);
}

}  // namespace mantissa::cli

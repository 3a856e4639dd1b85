// What the options of several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace mantissa::cli {

// For unsigned options: CLI11 alone would read -3 as 2^64 - 3.
inline CLI::Validator whole_number() {
  return {[](std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size();
            return good ? std::string() : "'" + text + "' is not a whole number from 0 to 2^64-1";
          },
          ""};
}

}  // namespace mantissa::cli

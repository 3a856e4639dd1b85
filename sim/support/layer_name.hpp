// What a layer may be called: one rule for traces and for networks, so that every network that is trained can
// be recorded, and its records read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mantissa {

inline constexpr std::size_t longest_name = 200;

// What is wrong with text that must be one printable line, as the end of a sentence about it; empty: nothing.
std::string problem_of_line(std::string_view text, std::size_t longest);

// What is wrong with a name, as the end of a sentence about it; empty: nothing.
std::string problem_of_name(std::string_view name);

}  // namespace mantissa

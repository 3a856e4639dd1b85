// What every command line is checked for, and how a wrong one is answered: in our words, with what exists.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mantissa::cli {

// For a program with all its commands: no option anywhere takes an empty value.
void refuse_empty_values(CLI::App& program);

// The culprit first, then what could have been written instead.
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace mantissa::cli

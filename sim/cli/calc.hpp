// The operations of `mantissa calc`, one function each.
#pragma once

#include <CLI/CLI.hpp>

namespace mantissa::cli {

void add_convert(CLI::App& calc);
void add_mac(CLI::App& calc);
void add_arithmetic(CLI::App& calc);  // add, mul, div, fma
void add_dot(CLI::App& calc);
void add_prune(CLI::App& calc);
void add_lfsr(CLI::App& calc);

}  // namespace mantissa::cli

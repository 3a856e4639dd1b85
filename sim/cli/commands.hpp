// The subcommands of `mantissa`. Each function adds one to the program: its options, its help with examples,
// and a callback that does the work. A new subcommand is one file, one line here and one in main.cpp.
//
// Callbacks report bad input by throwing std::invalid_argument; main turns it into
// `mantissa: error: ...` on standard error and exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mantissa::cli {

// The command did its work and found something wrong, which it has told: exit code 1.
struct ChecksFailed {};
// What is wrong has been told: exit code 2.
struct AlreadyTold {};

void add_bench(CLI::App& program);
void add_calc(CLI::App& program);
void add_compare(CLI::App& program);
void add_cycles(CLI::App& program);
void add_replay(CLI::App& program);
void add_silicon(CLI::App& program);
void add_trace(CLI::App& program);
void add_train(CLI::App& program);
void add_vectors(CLI::App& program);
void add_verify(CLI::App& program);

// What --version prints: the program first, then what it stands on, a line each.
std::string version_text();

}  // namespace mantissa::cli

// The subcommands of `mantissa trace`.
#pragma once

#include <CLI/CLI.hpp>

namespace mantissa::cli {

void add_trace_info(CLI::App& trace);
void add_trace_synth(CLI::App& trace);
void add_trace_import(CLI::App& trace);

}  // namespace mantissa::cli

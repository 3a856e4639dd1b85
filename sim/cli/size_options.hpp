// The options of what replays a trace, or says whether a replay would refuse it.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/cli/options.hpp"
#include "sim/replay/size_check.hpp"

namespace mantissa::cli {

inline void add_size_limits(CLI::App& command, replay::SizeLimits& limits) {
  constexpr double highest = 1e9;
  command
      .add_option("--memory", limits.memory_gib,
                  "refuse a trace of which a layer takes more memory than this")
      ->type_name("GIB")
      ->transform(real_number(0, highest))
      ->capture_default_str();
  command
      .add_option("--work", limits.tera_multiplications,
                  "refuse a trace that takes more multiplications than this times 10^12")
      ->type_name("TERA")
      ->transform(real_number(0, highest))
      ->capture_default_str();
}

}  // namespace mantissa::cli

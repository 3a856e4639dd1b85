// What a reader must know besides the figures: warnings, without which they would mislead, and notes.
#pragma once

#include "sim/arch/architecture.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/replay.hpp"
#include "sim/report/replay_report.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

// Of a trace, a recipe and a machine, and of what does not go together in them.
void note_inputs(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                 const Options& options, ReplayReport& report);

// Where a machine checks, and norms are summed in parts.
void note_parts(ReplayReport& report);

// Of the passes: results that are not finite, before all other warnings.
void warn_of_results(ReplayReport& report);

}  // namespace mantissa::replay

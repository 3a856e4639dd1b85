// What a controller tells lowering_unit of a run (ARITHMETIC.md 7, "Addresses"): set-ups from the geometry of
// a pass.
#pragma once

#include "models/mac/lowering_unit.hpp"
#include "models/mac/pass_phases.hpp"

namespace mantissa {

// A run: rows by columns of one group, over some units of k, which are channels or, in the weight gradient,
// lines (b, oh). Lines hold what the law says ("Lines").
struct LoweredRun {
  std::int64_t first_unit = 0, units = 1;
  std::int64_t row0 = 0, rows = 1;  // as the phase counts them
  std::int64_t col0 = 0, cols = 1;  // of the group
  // Where a line begins: in the weight gradient A's with this row, B's with this channel of the group; else
  // B's with this column, which is negative if it begins with those of another group.
  std::int64_t line_row = 0;
  std::int64_t line_column = 0;
  std::int64_t line_channel = 0;
};

// Rows take lanes 0, 1, ..., columns those from `first_lane` on.
LoweringSetup lowering_setup_a(const ConvShape& geometry, Pass pass, const PassPhase& phase,
                               const LoweredRun& run, int lanes);
LoweringSetup lowering_setup_b(const ConvShape& geometry, Pass pass, const PassPhase& phase,
                               const LoweredRun& run, int lanes, int first_lane);

}  // namespace mantissa

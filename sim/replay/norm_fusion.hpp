// Which batch norms leave their statistics to the drains of the layers beside them (ARITHMETIC.md 8,
// "Fused").
#pragma once

#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/replay/step_plan.hpp"

namespace mantissa::replay {

// Fills PlannedLayer::fused of a step's layers.
void fuse_norms(const trace::Trace& trace, const Architecture& arch, std::vector<PlannedLayer>& layers);

}  // namespace mantissa::replay

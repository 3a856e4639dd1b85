// Whether the buffers can hold what a layer's GEMMs need, asked before the first layer runs.
#pragma once

#include "sim/arch/architecture.hpp"
#include "sim/replay/step_plan.hpp"

namespace mantissa::replay {

// Throws std::invalid_argument, with the layer, the pass and the key that is too small, where not even one
// window of an operand fits half a buffer. Other simulators' dataflows have no buffers.
void check_buffers(const trace::Trace& trace, const PlannedLayer& planned, const Architecture& arch);

}  // namespace mantissa::replay

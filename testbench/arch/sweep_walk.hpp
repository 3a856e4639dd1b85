// An oracle for fused batch norms that take their statistics in a sweep of their own (ARITHMETIC.md 8,
// "Fused"): lanes and DMA of the second machine act in every single cycle. It shares no code with the closed
// form. For short channels only.
#pragma once

#include "sim/arch/architecture.hpp"
#include "sim/arch/norm_cycles.hpp"

namespace mantissa::test {

// Throws std::invalid_argument where the law refuses it.
GemmCycles walk_swept_norm(const Architecture& arch, const NormStreams& shape, NormDirection direction);

}  // namespace mantissa::test

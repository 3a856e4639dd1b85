// An oracle for the second machine (ARITHMETIC.md 7, "Blocks"): every line, block, step, tile and run is
// listed, its parts act in every single cycle, and a bookkeeper names each cycle by the rules. It shares no
// code with the closed form, and sees elements of A, not counts. For small layers only.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/block_job.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa::test {

// `first_nonzero` has one byte, 0 or 1, per element of the pass's first tensor, row-major: forward
// x [batch, in_channels, H, W], both gradient passes g [batch, out_channels, OH, OW]. Throws
// std::invalid_argument where the law refuses the mapping, and for a job that is none.
GemmCycles walk_blocks(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                       const std::vector<std::uint8_t>& first_nonzero);

}  // namespace mantissa::test

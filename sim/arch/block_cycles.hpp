// What one pass of a layer costs on the second machine, in closed form (ARITHMETIC.md 7, "Blocks"). Zeros of
// A are counted beforehand; no element is visited here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/block_job.hpp"
#include "sim/arch/block_loads.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/pass_timeline.hpp"

namespace mantissa {

// Non-zero elements of A per row and window, row-major, of all rows of each phase and group: at phase *
// groups + group. Looked at only where the job skips.
using BlockCounts = std::vector<std::vector<std::uint16_t>>;

struct BlockCost {
  GemmCycles cycles;
  BlockScope a_scope = BlockScope::all;
  BlockScope b_scope = BlockScope::all;
  bool two_blocks = false;  // that C holds
};

// Throws std::invalid_argument for a mapping that the law refuses. `row_nonzero`: non-zero elements of each
// row oh of g, at (b * channels + channel) * OH + oh with the channels of all groups; looked at only where
// the job is packed.
BlockCost block_cycles(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                       const BlockCounts& nonzero, std::span<const std::uint32_t> row_nonzero = {},
                       TimelineRecorder* recorder = nullptr);

// The same with a guess in place of the skip recurrence, for choosing among mappings: a run takes `share` of
// its dense time.
BlockCost estimated_block_cycles(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                                 double share, std::span<const std::uint32_t> row_nonzero = {});

}  // namespace mantissa

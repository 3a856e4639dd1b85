// How a pass is cut best (ARITHMETIC.md 7, "Blocks"): the mapping with the fewest cycles, then the fewest
// bytes.
#pragma once

#include <string>

#include "sim/arch/block_cycles.hpp"

namespace mantissa {

struct MappedCost {
  BlockMapping mapping;
  BlockCost cost;
};

// Sizes are tried that cut rows, columns and K into 1, 2, 3, 4, 6, 8, ... parts. A rough count of bytes ranks
// them, the closed form with the share that skipping leaves of a few tile rows judges the best of these, and
// the exact one decides among the last. Throws std::invalid_argument where no mapping fits the buffers: what
// is too small, and what would do.
MappedCost best_mapping(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero,
                        std::span<const std::uint32_t> row_nonzero = {});

// The sizes that the architecture gives for all passes, as this one takes them: no larger than it is, and
// `k_block` up to the next size that is cut between windows.
BlockMapping given_mapping(const Architecture& arch, const BlockJob& job);

// The best mapping, or the one that is given.
MappedCost mapped_cost(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero,
                       std::span<const std::uint32_t> row_nonzero = {});
// "m-outside 64 x 32 x 128, A row, B all, C two blocks".
std::string text_of(const MappedCost& mapped);

// Throws what mapped_cost would throw for want of room, without looking for more than one that fits.
void check_fits(const Architecture& arch, const BlockJob& job);

}  // namespace mantissa

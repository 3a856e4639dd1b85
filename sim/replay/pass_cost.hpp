// What a pass's product costs on the architecture, by the closed form of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/arch/block_cycles.hpp"
#include "sim/replay/gemm_pass.hpp"

namespace mantissa::replay {

struct PassCost {
  GemmCycles cost;                   // all groups
  std::uint64_t dense_cycles = 0;    // with skipping off
  std::uint64_t scheduled_macs = 0;  // without holes where the machine leaves them out
  std::string mapping;               // how it was cut; empty: as the first machine does
  std::optional<BlockMapping> blocks;
};

PassCost cost_of(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                 const Architecture& arch, int threads);

// What it does with this time; of a dataflow without memory nothing.
PassTimeline timeline_of(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                         const Architecture& arch, const PassCost& cost, int threads);

// Of an accumulator of K products, in the buffer of sums.
int sum_bits(const ElementType& a, const ElementType& b, const LayerPlan& plan, std::int64_t k);

// What the second machine's closed form needs to know of A; nothing where the pass skips nothing.
BlockCounts block_counts(const GemmPass& pass, const GemmPassResult& result, const Architecture& arch,
                         int threads);

// The same of the rows of a packed gradient; nothing where it is not packed.
std::vector<std::uint32_t> packed_rows(const GemmPass& pass, int threads);

// The pass as a job of the second machine.
BlockJob block_job(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan);

}  // namespace mantissa::replay

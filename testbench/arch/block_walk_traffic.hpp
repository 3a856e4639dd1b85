// What the second machine moves, and in which order: what stays in the buffers, and the DMA's queue.
#pragma once

#include <array>
#include <vector>

#include "testbench/arch/block_walk_plan.hpp"
#include "testbench/arch/walked_dma.hpp"

namespace mantissa::test {

struct Traffic {
  std::vector<PlannedTransfer> queue;
  bool two_blocks = false;  // in C
  Count tensor_bytes = 0;
};

// Throws std::invalid_argument where a buffer is too small.
Traffic plan_traffic(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                     const BlockPlan& plan);

// How large a buffer has to be for each scope, step, row and all, and C for the largest block.
struct BufferNeeds {
  std::array<Count, 3> a{};
  std::array<Count, 3> b{};
  Count c = 0;
};
BufferNeeds buffer_needs(const BlockJob& job, const BlockMapping& mapping, const BlockPlan& plan);

}  // namespace mantissa::test

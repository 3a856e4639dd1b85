// Random small jobs of the second machine, for the oracle and whatever is held against it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/block_job.hpp"

namespace mantissa::test {

struct BlockCase {
  Architecture arch;
  BlockJob job;
  BlockMapping mapping;
  std::vector<std::uint8_t> nonzero;  // of the pass's first tensor, as walk_blocks takes it
};

// The same case for the same state of `random`, whatever the standard library. Some mappings are refused by
// the law: sizes that are no multiples, buffers that are a byte too small.
BlockCase random_block_case(std::mt19937_64& random);

// Most of these have a gradient in packed lines, or a drain that takes statistics, or both.
BlockCase random_extended_case(std::mt19937_64& random);

}  // namespace mantissa::test

// What the steps of a pass load of an operand, and whether there is room for it one step early (ARITHMETIC.md
// 7, "What stays").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/arch/block_plan.hpp"

namespace mantissa {

enum class BlockScope : std::uint8_t { all, row, step };
std::string_view name_of(BlockScope scope);

struct BlockLoads {
  BlockScope scope = BlockScope::all;
  std::vector<std::int64_t> bytes;  // that move, per step; 0: nothing is missing
  std::int64_t stored = 0;          // bytes that all these are in the buffer: of packed lines, their codes
  std::vector<bool> early;          // per step: there is room beside what the step before keeps
};

// `key` names the buffer in the message of std::invalid_argument, thrown where a step's lines do not fit.
BlockLoads block_loads(const BlockOperand& operand, const std::vector<BlockStep>& steps,
                       std::int64_t buffer_bytes, const std::string& key);

}  // namespace mantissa

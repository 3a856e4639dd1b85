// How a pass of batch norm is cut into groups and steps, and where their blocks lie in DRAM (ARITHMETIC.md 8,
// "On the accelerator").
#pragma once

#include <cstdint>

#include "sim/arch/norm_cycles.hpp"

namespace mantissa {

// A segment of a sweep or pass over a group.
struct NormStep {
  std::int64_t group = 0;
  std::int64_t first = 0;   // element of the channels
  std::int64_t length = 0;  // elements per lane
  std::int64_t lanes = 0;   // in use
  std::int64_t block = 0;   // counts segments over the groups: the same in both sweeps or passes
  bool second = false;      // sweep 2 or pass 2: it has results
  bool opens = false;       // it begins a sweep or pass over its group
  bool closes = false;
};

class NormPlan {
 public:
  // Throws what norm_step_length throws.
  NormPlan(const Architecture& arch, const NormStreams& streams, NormDirection direction);

  std::int64_t groups() const { return groups_; }
  std::int64_t blocks() const { return groups_ * segments_; }
  std::int64_t steps() const { return 2 * blocks(); }
  NormStep step(std::int64_t index) const;

  // In DRAM every block that a transfer moves is consecutive. Bytes from 0 on: x, g, results.
  std::int64_t x_address(std::int64_t block) const { return block * x_block_; }
  std::int64_t g_address(std::int64_t block) const { return blocks() * x_block_ + block * g_block_; }
  std::int64_t result_address(std::int64_t block) const {
    return blocks() * (x_block_ + g_block_) + block * result_block_;
  }
  std::int64_t dram_bytes() const { return result_address(blocks()); }
  std::int64_t result_half_bytes() const { return result_block_; }

 private:
  NormStreams streams_;
  bool backward_;
  std::int64_t lanes_;
  std::int64_t length_;
  std::int64_t groups_;
  std::int64_t segments_;
  std::int64_t x_block_;  // bytes of the largest block
  std::int64_t g_block_;
  std::int64_t result_block_;
};

}  // namespace mantissa

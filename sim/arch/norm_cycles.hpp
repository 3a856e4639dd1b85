// What batch norm costs on the accelerator, in closed form: `norm_lanes` units side by side, one channel
// each.
//
// Channels are dealt in groups of norm_lanes, and a group streams its channels twice from DRAM, one element
// per cycle and lane: forward reads x, and x again while it writes y; backward x and g, and again while it
// writes dx. Every stream of a group is one DMA transfer (ARITHMETIC.md 7, "DMA"); they go on while the units
// work, so a group takes the longer of the two, and what the DMA takes beyond the units is a load stall.
// Per-channel numbers (gamma, beta, mean, inv, indices) are few and not counted.
//
// Standard batch norm costs the same: its two passes touch the same streams, and it is no unit of its own.
#pragma once

#include <cstdint>

#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

struct NormShape {
  std::int64_t channels = 0;
  std::int64_t elements = 0;  // per channel, at least 2
  int x_bits = 8;
  int result_bits = 8;    // y or dx
  int gradient_bits = 8;  // g, backward only
};

// From a channel's first element into range_bn_forward or range_bn_backward to its last result, at full rate.
std::uint64_t norm_forward_cycles(std::int64_t elements);
std::uint64_t norm_backward_cycles(std::int64_t elements);

// macs = 0; tiles and steps are groups; drained are results. SRAM bytes: what the DMA moves goes through a
// buffer, in and out. Throws std::invalid_argument for what does not fit.
GemmCycles norm_forward_cost(const Architecture& arch, const NormShape& shape);
GemmCycles norm_backward_cost(const Architecture& arch, const NormShape& shape);

}  // namespace mantissa

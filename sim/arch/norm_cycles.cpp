#include "sim/arch/norm_cycles.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

// Keeps the cycles of five streams of 32 bits within 64 bits.
constexpr std::int64_t max_elements = std::int64_t{1} << 40;

// One direction: the unit, and what a group moves.
struct Direction {
  std::uint64_t unit_cycles = 0;
  std::span<const int> streams;  // bits per element, one entry per transfer
  std::span<const int> tensors;  // bits per element, one entry per tensor
};

void check(const Architecture& arch, const NormShape& shape) {
  arch.check();
  if (shape.channels < 1 || shape.channels > max_gemm_size || shape.elements < 2 ||
      shape.elements > max_gemm_size || shape.channels > max_elements / shape.elements) {
    throw std::invalid_argument("batch norm of " + std::to_string(shape.channels) + " channels of " +
                                std::to_string(shape.elements) +
                                " elements: there is at least one, of at least 2, and at most 2^40 in all");
  }
  for (const int bits : {shape.x_bits, shape.result_bits, shape.gradient_bits}) {
    if (bits < 1 || bits > 32) {
      throw std::invalid_argument("elements have 1..32 bits in memory, not " + std::to_string(bits));
    }
  }
}

std::uint64_t bytes(std::int64_t elements, int bits) {
  return (static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bits) + 7) / 8;
}

GemmCycles group_cost(const Architecture& arch, std::int64_t elements, const Direction& direction) {
  const auto burst = static_cast<std::uint64_t>(arch.dram_burst_bytes);
  GemmCycles cost{.compute = direction.unit_cycles, .tiles = 1, .steps = 1};
  std::uint64_t dma = 0;
  for (const int bits : direction.streams) {
    const std::uint64_t stream = bytes(elements, bits);
    dma += static_cast<std::uint64_t>(arch.dram_latency_cycles) +
           (stream + burst - 1) / burst * static_cast<std::uint64_t>(arch.dram_burst_cycles);
    cost.dram_bytes += stream;
  }
  cost.stall_load = dma - std::min(dma, cost.compute);
  cost.sram_bytes = 2 * cost.dram_bytes;
  cost.drained = static_cast<std::uint64_t>(elements);
  return cost;
}

GemmCycles times(const GemmCycles& one, std::uint64_t count) {
  return {.compute = one.compute * count,
          .stall_load = one.stall_load * count,
          .dram_bytes = one.dram_bytes * count,
          .sram_bytes = one.sram_bytes * count,
          .drained = one.drained * count,
          .tiles = one.tiles * count,
          .steps = one.steps * count};
}

GemmCycles cost_of(const Architecture& arch, const NormShape& shape, const Direction& direction) {
  const std::int64_t rest = shape.channels % arch.norm_lanes;
  GemmCycles cost = times(group_cost(arch, arch.norm_lanes * shape.elements, direction),
                          static_cast<std::uint64_t>(shape.channels / arch.norm_lanes));
  if (rest > 0) cost += group_cost(arch, rest * shape.elements, direction);
  for (const int bits : direction.tensors) {
    cost.dram_bytes_unique += bytes(shape.channels * shape.elements, bits);
  }
  return cost;
}

}  // namespace

// Two passes, the cycles between them, and the unit's latency (rtl/README.md): 34 and 3, 8 and 5.
std::uint64_t norm_forward_cycles(std::int64_t elements) {
  return 2 * static_cast<std::uint64_t>(elements) + 34 + 3;
}
std::uint64_t norm_backward_cycles(std::int64_t elements) {
  return 2 * static_cast<std::uint64_t>(elements) + 8 + 5;
}

GemmCycles norm_forward_cost(const Architecture& arch, const NormShape& shape) {
  check(arch, shape);
  const std::array streams = {shape.x_bits, shape.x_bits, shape.result_bits};
  const std::array tensors = {shape.x_bits, shape.result_bits};
  return cost_of(arch, shape, {norm_forward_cycles(shape.elements), streams, tensors});
}

GemmCycles norm_backward_cost(const Architecture& arch, const NormShape& shape) {
  check(arch, shape);
  const std::array streams = {shape.x_bits, shape.gradient_bits, shape.x_bits, shape.gradient_bits,
                              shape.result_bits};
  const std::array tensors = {shape.x_bits, shape.gradient_bits, shape.result_bits};
  return cost_of(arch, shape, {norm_backward_cycles(shape.elements), streams, tensors});
}

}  // namespace mantissa

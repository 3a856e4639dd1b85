// From what a pass did to the actions that a table prices.
//
//   multiply A B           one product; A and B are formats ("e5m2", "fp32") or integers ("uint8", "uint16")
//   accumulate F           one addition into an accumulator of format F
//   accumulate intN        one addition of N bits
//   align N                one product shifted into a frame of N bits
//   register bit           one bit of an accumulator written
//   staging write byte     into the staging registers of B
//   staging read byte N    by one processing element, out of N staged slices
//   sram byte N            read from or written to a buffer half of N bytes
//   dram byte
//   quantize F             one FP32 element to format F; quantize uintN: by the GEMMLOWP quantizer
//   draw                   one draw of a generator
//   prune R                one element through the pruner with R random bits
//   norm KIND PASS         one element of a batch norm; KIND standard or range, PASS forward or backward
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/mac/accumulator.hpp"
#include "models/tensor/element_type.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/energy/energy_table.hpp"

namespace mantissa {

struct QuantizedElements {
  ElementType to;
  std::uint64_t elements = 0;
};

// One GEMM, or all groups of a layer's pass together.
struct GemmWork {
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
  ElementType c = formats::e5m2;  // what the drain makes; FP32 needs no quantizer
  Accumulator accumulator;        // of formats; integers add in 48 bits
  std::int64_t k = 0;
  int sum_bits = 32;  // of a sum in the buffer C of the second machine
  int x_bits = 0;     // of what lies beside it for a drain's statistics
  bool bias = false;
  GemmCycles cost;
  std::vector<QuantizedElements> quantized;  // on the way in; what drains is counted anyway
  std::uint64_t draws = 0;                   // of all units
  std::uint64_t pruned = 0;                  // elements that went through the pruner
  int prune_random_bits = 16;
};

// One batch norm pass.
struct NormWork {
  bool range = false;
  bool backward = false;
  std::uint64_t elements = 0;
  std::uint64_t dram_bytes = 0;
  std::uint64_t sram_bytes = 0;
  std::vector<QuantizedElements> quantized;
  std::uint64_t draws = 0;
};

// One update of weights: four operations for each (ARITHMETIC.md 11).
struct UpdateWork {
  std::uint64_t elements = 0;
  GemmCycles cost;
  std::vector<QuantizedElements> quantized;  // master weights and copies
  std::uint64_t draws = 0;
};

// All leave out what happened 0 times.
ActionCounts gemm_actions(const Architecture& arch, const GemmWork& work);
ActionCounts norm_actions(const Architecture& arch, const NormWork& work);
ActionCounts update_actions(const Architecture& arch, const UpdateWork& work);

void add(ActionCounts& sum, const ActionCounts& counts);

}  // namespace mantissa

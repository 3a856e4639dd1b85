// One GEMM as the modelled accelerator runs it, and what comes out: the contract of the engines that simulate
// every cycle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/int_mac.hpp"
#include "models/random/stream.hpp"
#include "models/tensor/encoded_tensor.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/machine/drain_statistics.hpp"

namespace mantissa {

// What is fixed when an array is built: an RTL array is compiled for it.
struct ArrayFormats {
  // Both codes (mac_array), or both integers of 8 or 16 bits, not both 16 (int_array), whose exact sums
  // become FP32 (ARITHMETIC.md 5): then nothing below counts.
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
  Format accumulator = formats::fp32;  // one rounding to nearest per step
  Format c = formats::e5m2;
  Rounding c_rounding = Rounding::rne();
  Overflow c_overflow = Overflow::ieee;
  int leap = Lfsr::default_leap;  // of the generators of a stochastic drain

  bool integers() const { return a.is_integer(); }
  int sum_bits() const { return integers() ? int_mac_acc_bits : accumulator.bits(); }
  const Format& result() const { return integers() ? formats::fp32 : c; }  // of what drains
  int c_bits() const { return result().bits(); }
  bool stochastic() const { return !integers() && c_rounding.stochastic(); }
  friend bool operator==(const ArrayFormats&, const ArrayFormats&) = default;
};

struct ArrayJob {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  EncodedTensor a;              // [m, k]
  EncodedTensor b;              // [k, n]
  std::span<const float> bias;  // one per column, or none
  int c_scale = 0;              // exponent of the drain quantizer
  bool skip = false;
  DrawSource draws;             // of the drain's lanes, unit 0; its leap is that of the array
  std::int64_t first_tile = 0;  // tile numbers continue over the groups of a layer
  // Bits of an element in memory; 0: those of its format. Wider ones are padded.
  int a_bits = 0;
  int b_bits = 0;
  int c_bits = 0;
  // After as many cycles a machine gives up: RTL that waits for ever is a UnitFailure.
  std::uint64_t most_cycles = ~std::uint64_t{0};
};

// The job as the closed form sees it.
inline GemmShape shape_of(const ArrayJob& job, const ArrayFormats& formats) {
  return {.m = job.m,
          .n = job.n,
          .k = job.k,
          .a_bits = job.a_bits != 0 ? job.a_bits : formats.a.bits(),
          .b_bits = job.b_bits != 0 ? job.b_bits : formats.b.bits(),
          .c_bits = job.c_bits != 0 ? job.c_bits : formats.c_bits()};
}

// Throws std::invalid_argument for a job that an array of these formats does not take.
void check_job(const ArrayJob& job, const ArrayFormats& formats);

struct ArrayRun {
  std::vector<std::uint32_t> codes;  // [m, n]; of an array of integers: FP32
  std::vector<std::uint8_t> flags;   // [m, n], Flags::bits(); of an array of integers: none is raised
  std::uint64_t suppressed_tiles = 0;
  GemmCycles cycles;
  std::vector<ChannelStatistics> statistics = {};  // of the columns, where the drain has taken them
};

}  // namespace mantissa

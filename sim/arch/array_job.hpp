// One GEMM as the modelled accelerator runs it, and what comes out: the contract of the engines that simulate
// every cycle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/gemm.hpp"
#include "models/random/stream.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

// What is fixed when an array is built: an RTL array is compiled for it.
struct ArrayFormats {
  Format a = formats::e5m2;
  Format b = formats::e5m2;
  Format accumulator = formats::fp32;  // one rounding to nearest per step
  Format c = formats::e5m2;
  Rounding c_rounding = Rounding::rne();
  Overflow c_overflow = Overflow::ieee;
  int leap = Lfsr::default_leap;  // of the generators of a stochastic drain
  friend bool operator==(const ArrayFormats&, const ArrayFormats&) = default;
};

struct ArrayJob {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const std::uint8_t> a;  // [m, k] codes
  std::span<const std::uint8_t> b;  // [k, n] codes
  std::span<const float> bias;      // one per column, or none
  int c_scale = 0;                  // exponent of the drain quantizer
  bool skip = false;
  DrawSource draws;             // of the drain's lanes, unit 0; its leap is that of the array
  std::int64_t first_tile = 0;  // tile numbers continue over the groups of a layer
  // Bits of an element in memory; 0: those of its format. Wider ones are padded.
  int a_bits = 0;
  int b_bits = 0;
  int c_bits = 0;
};

// The job as the closed form sees it.
inline GemmShape shape_of(const ArrayJob& job, const ArrayFormats& formats) {
  return {.m = job.m,
          .n = job.n,
          .k = job.k,
          .a_bits = job.a_bits != 0 ? job.a_bits : formats.a.bits(),
          .b_bits = job.b_bits != 0 ? job.b_bits : formats.b.bits(),
          .c_bits = job.c_bits != 0 ? job.c_bits : formats.c.bits()};
}

struct ArrayRun {
  std::vector<std::uint32_t> codes;  // [m, n]
  std::vector<std::uint8_t> flags;   // [m, n], Flags::bits()
  std::uint64_t suppressed_tiles = 0;
  GemmCycles cycles;
};

}  // namespace mantissa

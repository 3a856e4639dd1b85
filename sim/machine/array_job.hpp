// One GEMM as the modelled accelerator runs it, and what comes out: the contract of the engines that simulate
// every cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/gemm.hpp"
#include "models/mac/int_gemm.hpp"
#include "models/random/stream.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

// Bits of the operands of an array of integers: 8 or 16, not both 16.
struct IntegerWidths {
  int a = 8;
  int b = 8;
  friend bool operator==(const IntegerWidths&, const IntegerWidths&) = default;
};

// What is fixed when an array is built: an RTL array is compiled for it.
struct ArrayFormats {
  Format a = formats::e5m2;
  Format b = formats::e5m2;
  Format accumulator = formats::fp32;  // one rounding to nearest per step
  Format c = formats::e5m2;
  Rounding c_rounding = Rounding::rne();
  Overflow c_overflow = Overflow::ieee;
  int leap = Lfsr::default_leap;  // of the generators of a stochastic drain
  // An array of integers (int_array) in place of one of codes. Its exact sums become FP32 (ARITHMETIC.md 5),
  // and nothing above counts.
  std::optional<IntegerWidths> integers = std::nullopt;

  int a_bits() const { return integers ? integers->a : a.bits(); }
  int b_bits() const { return integers ? integers->b : b.bits(); }
  int c_bits() const { return integers ? formats::fp32.bits() : c.bits(); }
  bool stochastic() const { return !integers && c_rounding.stochastic(); }
  friend bool operator==(const ArrayFormats&, const ArrayFormats&) = default;
};

struct ArrayJob {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const std::uint8_t> a;  // [m, k] codes
  std::span<const std::uint8_t> b;  // [k, n] codes
  IntMatrix integer_a = {};         // of an array of integers, in place of the codes
  IntMatrix integer_b = {};
  std::span<const float> bias;  // one per column, or none
  int c_scale = 0;              // exponent of the drain quantizer
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
          .a_bits = job.a_bits != 0 ? job.a_bits : formats.a_bits(),
          .b_bits = job.b_bits != 0 ? job.b_bits : formats.b_bits(),
          .c_bits = job.c_bits != 0 ? job.c_bits : formats.c_bits()};
}

// Throws std::invalid_argument for a job that an array of these formats does not take.
void check_job(const ArrayJob& job, const ArrayFormats& formats);

struct ArrayRun {
  std::vector<std::uint32_t> codes;  // [m, n]; of an array of integers: FP32
  std::vector<std::uint8_t> flags;   // [m, n], Flags::bits(); of an array of integers: none is raised
  std::uint64_t suppressed_tiles = 0;
  GemmCycles cycles;
};

}  // namespace mantissa

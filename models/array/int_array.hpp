// int_array: one tile of the output-stationary array of integers, from its operands to the sums that leave it
// and the cycles it takes (ARITHMETIC.md 4, 5, 7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/tile_steps.hpp"
#include "models/mac/int_mac.hpp"
#include "models/sparsity/skip_window.hpp"

namespace mantissa {

struct IntArray {
  SkipWindow skip_window = {};
  int cols = 16;
  int a_bits = 8;  // 8 or 16
  int b_bits = 8;  // 8 or 16, not both 16
  int acc_bits = int_mac_acc_bits;
  int pipe_latency = 2;  // of the RTL: cycles of a drain beyond one per row

  // Throws std::invalid_argument for sizes below 1 and widths that int_mac does not have.
  void check() const;
  int rows() const { return skip_window.rows; }
  std::uint64_t drain_cycles() const {
    return static_cast<std::uint64_t>(rows()) + static_cast<std::uint64_t>(pipe_latency);
  }
};

// Outputs [m, n] of one tile, m <= rows and n <= cols: A[m,k] B[k,n], row-major unsigned integers.
struct IntTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const std::uint16_t> a = {};
  std::span<const std::uint16_t> b = {};
  std::int64_t step_k = 0;  // k per step, the last one the rest; 0: the tile is one step
};

// Row-major over the whole array; unused rows and columns are 0.
struct IntTileResult {
  std::vector<std::uint64_t> sums;  // modulo 2^acc_bits, as the hardware has them
  bool overflow = false;            // one of them wrapped: the tile is no result
  std::vector<SkipSchedule> steps;

  std::uint64_t compute_cycles() const { return mantissa::compute_cycles(steps); }
};

// One step of an element: acc + a*b for operands of the array's widths.
WrappedSum int_array_step(const IntArray& array, std::uint32_t a, std::uint32_t b, std::uint64_t acc);

// Throws std::invalid_argument for what does not fit, integers wider than the array's included.
IntTileResult int_array(const IntArray& array, const IntTile& tile);

}  // namespace mantissa

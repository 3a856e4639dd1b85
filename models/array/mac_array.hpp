// mac_array: one tile of the output-stationary array, from its operands to the codes that leave it and the
// cycles it takes (ARITHMETIC.md 4, 7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/tile_steps.hpp"
#include "models/format/convert.hpp"
#include "models/mac/gemm.hpp"
#include "models/random/stream.hpp"
#include "models/sparsity/skip_window.hpp"

namespace mantissa {

struct MacArray {
  SkipWindow skip_window = {};
  int cols = 16;
  Format a = formats::e5m2;
  Format b = formats::e5m2;
  Format accumulator = formats::fp32;  // rounded to nearest at every step
  // The drain quantizer, from FP32 to the output format.
  Conversion drain{.to = formats::e5m2};
  int pipe_latency = 2;  // of the RTL: cycles of a drain beyond one per row

  // Throws std::invalid_argument for sizes below 1, formats that do not go together, a drain not from FP32.
  void check() const;
  int rows() const { return skip_window.rows; }
  std::uint64_t drain_cycles() const {
    return static_cast<std::uint64_t>(rows()) + static_cast<std::uint64_t>(pipe_latency);
  }
};

// Outputs [m, n] of one tile, m <= rows and n <= cols: A[m,k] B[k,n], row-major codes.
struct Tile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const std::uint8_t> a = {};
  std::span<const std::uint8_t> b = {};
  std::span<const float> bias = {};  // one per column, or none at all
  std::int64_t step_k = 0;           // k per step, the last one the rest; 0: the tile is one step
};

// Row-major over the whole array: unused rows and columns hold what the array makes of zeros.
struct TileResult {
  std::vector<std::uint32_t> accumulators;  // codes of the accumulator format
  std::vector<Rounded> outputs;
  std::vector<SkipSchedule> steps;
  std::uint64_t suppressed = 0;  // the RTL keeps one bit: suppressed != 0

  std::uint64_t compute_cycles() const { return mantissa::compute_cycles(steps); }
};

// The generators of the drain's lanes, unit 0, one per column, as they stand before tile number `tile`.
std::vector<Lfsr> drain_lanes(const MacArray& array, const DrawSource& draws, std::int64_t tile);

// A stochastic drain takes one draw per row from every lane, others none. Throws std::invalid_argument for
// what does not fit.
TileResult mac_array(const MacArray& array, const Tile& tile, std::span<Lfsr> lanes = {});

}  // namespace mantissa

// A tile's shape and steps, which do not depend on what its elements are (ARITHMETIC.md 7, "Steps").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/sparsity/skip_window.hpp"

namespace mantissa {

// Outputs [m, n] over k, cut into steps of step_k, the last one the rest; 0: the tile is one step.
struct TileShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t step_k = 0;
};

// Throws std::invalid_argument for a tile that does not fit an array of rows x cols, or its own operands A[m,
// k] and B[k, n].
void check_tile_shape(const TileShape& tile, int rows, int cols, std::size_t a_elements,
                      std::size_t b_elements);

// What each step costs. `nonzero` has a byte per element of A[m, k], row-major, 0 where it is zero.
std::vector<SkipSchedule> schedule_steps(const SkipWindow& array, const TileShape& tile,
                                         std::span<const std::uint8_t> nonzero);

std::uint64_t compute_cycles(std::span<const SkipSchedule> steps);

}  // namespace mantissa

#include "models/array/tile_steps.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mantissa {

void check_tile_shape(const TileShape& tile, int rows, int cols, std::size_t a_elements,
                      std::size_t b_elements) {
  const auto fits = [](std::int64_t height, std::int64_t width, std::size_t elements) {
    return static_cast<unsigned __int128>(height) * static_cast<unsigned __int128>(width) == elements;
  };
  if (tile.m < 0 || tile.m > rows || tile.n < 0 || tile.n > cols || tile.k < 1 || tile.step_k < 0 ||
      !fits(tile.m, tile.k, a_elements) || !fits(tile.k, tile.n, b_elements)) {
    throw std::invalid_argument("a tile of " + std::to_string(tile.m) + " x " + std::to_string(tile.n) +
                                " outputs, K = " + std::to_string(tile.k) +
                                ", does not fit its operands or an " + std::to_string(rows) + " x " +
                                std::to_string(cols) + " array");
  }
}

std::vector<SkipSchedule> schedule_steps(const SkipWindow& array, const TileShape& tile,
                                         std::span<const std::uint8_t> nonzero) {
  std::vector<SkipSchedule> steps;
  const std::int64_t step_k = tile.step_k == 0 ? tile.k : tile.step_k;
  for (std::int64_t first = 0; first < tile.k; first += step_k) {
    const std::int64_t length = std::min(step_k, tile.k - first);
    const std::int64_t windows = array.windows(length);
    std::vector<std::uint32_t> counts(tile.m * windows);
    for (std::int64_t row = 0; row < tile.m; ++row) {
      for (std::int64_t i = 0; i < length; ++i) {
        if (nonzero[row * tile.k + first + i] != 0) ++counts[row * windows + i / array.window];
      }
    }
    steps.push_back(skip_schedule(array, length, counts));
  }
  return steps;
}

std::uint64_t compute_cycles(std::span<const SkipSchedule> steps) {
  std::uint64_t cycles = 0;
  for (const SkipSchedule& step : steps) cycles += step.cycles;
  return cycles;
}

}  // namespace mantissa

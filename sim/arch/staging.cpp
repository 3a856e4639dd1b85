#include "sim/arch/staging.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/parallel/parallel.hpp"

namespace mantissa {
namespace {

SkipWindow without_skip(SkipWindow array) {
  array.skip = false;
  return array;
}

}  // namespace

std::uint64_t compute_cycles(const SkipWindow& array, std::int64_t m, std::int64_t k,
                             std::span<const std::uint16_t> nonzero, std::int64_t tile_cols) {
  check_gemm_size(m, tile_cols, k);
  SkipScheduler scheduler(array);
  const std::int64_t tile_rows = (m + array.rows - 1) / array.rows;
  if (!array.skip) return scheduler.dense(k, 0).cycles * static_cast<std::uint64_t>(tile_rows * tile_cols);
  const std::int64_t windows = array.windows(k);
  if (static_cast<std::int64_t>(nonzero.size()) != m * windows) {
    throw std::invalid_argument(std::to_string(nonzero.size()) + " non-zero counts are not those of " +
                                std::to_string(m) + " rows of " + std::to_string(windows) + " windows");
  }
  std::uint64_t cycles = 0;
  for (std::int64_t row = 0; row < m; row += array.rows) {
    const std::int64_t rows_in_use = std::min<std::int64_t>(array.rows, m - row);
    cycles += scheduler.schedule(k, nonzero.subspan(row * windows), rows_in_use, windows).cycles;
  }
  return cycles * static_cast<std::uint64_t>(tile_cols);
}

double speedup_bound(double sparsity) { return 3 / (1 + 2 * (1 - sparsity)); }

StagingTable::StagingTable(const Architecture& arch) : cols_(arch.cols) {
  arch.check();
  for (const int port : {2, 4, 8, 16}) {
    for (const int depth : {1, 2, 4}) {
      SkipWindow array = arch.skip_window(true);
      array.depth = depth;
      array.port = port;
      cells_.push_back({.array = array});
    }
  }
}

void StagingTable::add_dense(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t times) {
  for (Cell& cell : cells_) {
    const std::uint64_t cycles = times * compute_cycles(without_skip(cell.array), m, k, {}, tile_cols(n));
    cell.dense += cycles;
    cell.skipping += cycles;
  }
}

void StagingTable::add_gradient(std::int64_t m, std::int64_t n, std::int64_t k,
                                std::span<const std::uint16_t> nonzero, std::uint64_t times, int threads) {
  parallel_ranges(static_cast<std::int64_t>(cells_.size()), 1, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i) {
                      Cell& cell = cells_[i];
                      cell.dense += times * compute_cycles(without_skip(cell.array), m, k, {}, tile_cols(n));
                      cell.skipping += times * compute_cycles(cell.array, m, k, nonzero, tile_cols(n));
                    }
                  });
}

StagingTable& StagingTable::operator+=(const StagingTable& other) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].dense += other.cells_.at(i).dense;
    cells_[i].skipping += other.cells_.at(i).skipping;
  }
  return *this;
}

std::vector<StagingPoint> StagingTable::points() const {
  std::vector<StagingPoint> points;
  for (const Cell& cell : cells_) {
    const double speedup =
        cell.skipping == 0 ? 1 : static_cast<double>(cell.dense) / static_cast<double>(cell.skipping);
    points.push_back({.depth = cell.array.depth, .port = cell.array.port, .speedup = speedup});
  }
  return points;
}

}  // namespace mantissa

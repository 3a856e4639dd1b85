// What the staging of B is worth: the training speed-up by skipping zeros of gradients, without memory, for
// arrays of other depth and port (ARITHMETIC.md 7, "Skip").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

// Compute cycles of m / rows * tile_cols tiles, each one step: no memory, no drain. `nonzero` as in
// gemm_cycles; it is looked at only where the array skips.
std::uint64_t compute_cycles(const SkipWindow& array, std::int64_t m, std::int64_t k,
                             std::span<const std::uint16_t> nonzero, std::int64_t tile_cols);

// Speed-up of training by skipping zeros of gradients at one depth and port.
struct StagingPoint {
  int depth = 0;
  int port = 0;
  double speedup = 0;
};

// 3 / (1 + 2 (1 - S)): the forward pass takes what it took, both gradient passes only the share 1 - S.
double speedup_bound(double sparsity);

// Cycles of all GEMMs of some training steps, with and without skipping, at Depth 1, 2, 4 and Port 2, 4, 8,
// 16.
class StagingTable {
 public:
  // Rows, columns and window are the architecture's.
  explicit StagingTable(const Architecture& arch);

  // A GEMM whose zeros are not skipped, and how often it runs.
  void add_dense(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t times = 1);
  // A GEMM with a gradient for A. No result depends on `threads`.
  void add_gradient(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint16_t> nonzero,
                    std::uint64_t times = 1, int threads = 1);

  // All GEMMs of another table of the same architecture.
  StagingTable& operator+=(const StagingTable& other);

  // Port by port, depth ascending. No GEMM: speed-up 1.
  std::vector<StagingPoint> points() const;

 private:
  struct Cell {
    SkipWindow array;
    std::uint64_t dense = 0;     // cycles if nothing is skipped
    std::uint64_t skipping = 0;  // cycles if gradients are
  };
  std::int64_t tile_cols(std::int64_t n) const { return (n + cols_ - 1) / cols_; }

  int cols_;
  std::vector<Cell> cells_;
};

}  // namespace mantissa

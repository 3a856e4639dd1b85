// What skipping leaves of a pass's compute time, from a few of its tile rows: for choosing among mappings.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/sparsity/skip_window.hpp"
#include "sim/arch/block_cycles.hpp"

namespace mantissa {

class SkipShare {
 public:
  // Keeps references to the counts. Throws std::invalid_argument for counts that are not the job's.
  SkipShare(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero);

  // Of the dense time, where K is cut into segments of so many units: rows wait for each other at the end of
  // each. 1 where the job skips nothing.
  double of(std::int64_t k_block);

 private:
  // A tile row of a phase's first group, and how many it stands for.
  struct TileRow {
    std::span<const std::uint16_t> nonzero;  // [rows, windows]
    std::int64_t rows = 0;
    std::int64_t windows = 0;
    std::int64_t k_per_unit = 1;
    double weight = 1;
  };
  double measured(std::int64_t k_block);

  SkipScheduler scheduler_;
  std::int64_t units_ = 1;
  std::vector<TileRow> tile_rows_;  // none where the job skips nothing
  std::map<std::int64_t, double> known_;
};

}  // namespace mantissa

#include "models/array/block_array.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/mac/accumulator.hpp"
#include "models/mac/fp8_mul.hpp"
#include "models/mac/fp8_pe.hpp"

namespace mantissa {
namespace {

void check_run(const BlockArray& array, const BlockRun& run) {
  const TileShape whole{.m = array.rows(), .n = array.cols, .k = run.k};
  check_tile_shape(whole, array.rows(), array.cols, run.a.size(), run.b.size());
  if (run.used_rows.size() != static_cast<std::size_t>(array.rows()) ||
      run.enabled_cols.size() != static_cast<std::size_t>(array.cols)) {
    throw std::invalid_argument("a run says of every row and column of the array whether it takes part: " +
                                std::to_string(array.rows()) + " x " + std::to_string(array.cols) + ", not " +
                                std::to_string(run.used_rows.size()) + " x " +
                                std::to_string(run.enabled_cols.size()));
  }
}

}  // namespace

void BlockArray::check() const {
  skip_window.check();
  if (cols < 1) throw std::invalid_argument("an array has at least one column, not " + std::to_string(cols));
  if (sum_rows < 1 || sum_rows > rows()) {
    throw std::invalid_argument(std::to_string(sum_rows) + " rows of sums in a cycle; allowed: 1 to " +
                                std::to_string(rows()));
  }
  check_exact_product(a, b);
  Accumulator{.format = accumulator}.check();
}

BlockSums::BlockSums(const BlockArray& array) : array_(array) {
  array.check();
  for (Set& set : sets_) set.sums.assign(static_cast<std::size_t>(array.rows()) * array.cols, 0);
}

SkipSchedule BlockSums::run(const BlockRun& run) {
  check_run(array_, run);
  const MacConfig mac{.a = array_.a, .b = array_.b, .acc = array_.accumulator};
  Set& set = sets_[working_];
  std::vector<std::uint8_t> nonzero;  // of the rows in use
  TileShape shape{.k = run.k};
  for (int row = 0; row < array_.rows(); ++row) {
    if (run.used_rows[row] == 0) continue;
    ++shape.m;
    for (std::int64_t k = 0; k < run.k; ++k) {
      const std::uint8_t a = run.a[row * run.k + k];
      nonzero.push_back(array_.a.is_zero(a) ? 0 : 1);
      const bool absent = run.skip && array_.a.is_zero(a);
      for (int col = 0; col < array_.cols; ++col) {
        if (run.enabled_cols[col] == 0) continue;
        const std::uint8_t b = run.b[k * array_.cols + col];
        std::uint32_t& sum = set.sums[static_cast<std::size_t>(row) * array_.cols + col];
        if (!absent) {
          sum = fp8_pe(a, b, sum, mac);
        } else if (array_.b.is_inf(b) || array_.b.is_nan(b)) {
          ++set.suppressed;
        }
      }
    }
  }
  SkipWindow window = array_.skip_window;
  window.skip = run.skip;
  return schedule_steps(window, shape, nonzero).front();
}

void BlockSums::swap() {
  working_ = 1 - working_;
  sets_[working_].suppressed = 0;
}

void BlockSums::load(int row, std::span<const std::uint32_t> sums) {
  if (row < 0 || row >= array_.rows() ||
      (!sums.empty() && sums.size() != static_cast<std::size_t>(array_.cols))) {
    throw std::invalid_argument(std::to_string(sums.size()) + " sums for row " + std::to_string(row) +
                                " do not fit an array of " + std::to_string(array_.rows()) + " x " +
                                std::to_string(array_.cols));
  }
  const auto first = sets_[1 - working_].sums.begin() + static_cast<std::ptrdiff_t>(row) * array_.cols;
  if (sums.empty()) {
    std::fill_n(first, array_.cols, 0);
  } else {
    std::copy(sums.begin(), sums.end(), first);
  }
}

}  // namespace mantissa

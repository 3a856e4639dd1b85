// What the arrays with two sets of accumulators share (ARITHMETIC.md 7, "Two sets of accumulators"): the
// sets, and a run over the array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/array/tile_steps.hpp"

namespace mantissa {

// One run over the whole array. What rows not in use and columns not enabled hold does not count.
template <class Element>
struct ArrayRunOf {
  std::int64_t k = 0;
  std::span<const Element> a = {};                  // [rows, k], row-major
  std::span<const Element> b = {};                  // [k, cols]
  std::span<const std::uint8_t> used_rows = {};     // one byte per row, 0: not in use
  std::span<const std::uint8_t> enabled_cols = {};  // one per column, 0: holds its sums
  bool skip = true;                                 // in place of the array's
};

// Throws std::invalid_argument for rows of sums that an array cannot exchange in a cycle.
void check_sum_rows(int sum_rows, int rows);
// And for a row of sums, of so many, that it does not have; none is any.
void check_sums_of_row(int row, std::size_t sums, int rows, int cols);
// Throws std::invalid_argument for a run that does not fit.
void check_run_masks(std::size_t used_rows, std::size_t enabled_cols, int rows, int cols);

// The sums of both sets, row-major over the whole array, 0 at first.
template <class Sum>
class TwoSets {
 public:
  std::span<const Sum> working() const { return sets_[working_].sums; }
  std::span<const Sum> shadow() const { return sets_[1 - working_].sums; }

  // The tile is complete: the sets change roles.
  void swap() {
    working_ = 1 - working_;
    sets_[working_].events = 0;
  }
  // New sums for a row of the shadow set; none: 0. Throws std::invalid_argument for what does not fit.
  void load(int row, std::span<const Sum> sums) {
    check_sums_of_row(row, sums.size(), window_.rows, cols_);
    const auto first = sets_[1 - working_].sums.begin() + static_cast<std::ptrdiff_t>(row) * cols_;
    if (sums.empty()) {
      std::fill_n(first, cols_, 0);
    } else {
      std::copy(sums.begin(), sums.end(), first);
    }
  }

 protected:
  TwoSets(const SkipWindow& window, int cols) : window_(window), cols_(cols) {
    for (Set& set : sets_) set.sums.assign(static_cast<std::size_t>(window.rows) * cols, 0);
  }

  // Element by element into the working set: is_zero(a), then step(a, b, absent, sum) tells how many events
  // that the array has to report. The schedule is that of the run alone, from its own start.
  template <class Element, class IsZero, class Step>
  SkipSchedule add_run(const ArrayRunOf<Element>& run, const IsZero& is_zero, const Step& step) {
    check_tile_shape({.m = window_.rows, .n = cols_, .k = run.k}, window_.rows, cols_, run.a.size(),
                     run.b.size());
    check_run_masks(run.used_rows.size(), run.enabled_cols.size(), window_.rows, cols_);
    Set& set = sets_[working_];
    std::vector<std::uint8_t> nonzero;  // of the rows in use
    TileShape shape{.k = run.k};
    for (int row = 0; row < window_.rows; ++row) {
      if (run.used_rows[row] == 0) continue;
      ++shape.m;
      for (std::int64_t k = 0; k < run.k; ++k) {
        const Element a = run.a[row * run.k + k];
        nonzero.push_back(is_zero(a) ? 0 : 1);
        const bool absent = run.skip && is_zero(a);
        for (int col = 0; col < cols_; ++col) {
          if (run.enabled_cols[col] == 0) continue;
          Sum& sum = set.sums[static_cast<std::size_t>(row) * cols_ + col];
          set.events += step(a, run.b[k * cols_ + col], absent, sum) ? 1 : 0;
        }
      }
    }
    SkipWindow window = window_;
    window.skip = run.skip;
    return schedule_steps(window, shape, nonzero).front();
  }
  // Of the last tile whose sums went into the shadow set.
  std::uint64_t shadow_events() const { return sets_[1 - working_].events; }

 private:
  struct Set {
    std::vector<Sum> sums;
    std::uint64_t events = 0;
  };

  SkipWindow window_;
  int cols_;
  Set sets_[2];
  int working_ = 0;
};

}  // namespace mantissa

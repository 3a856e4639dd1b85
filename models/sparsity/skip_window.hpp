// skip_window: when each row of the array works on which window of K, zeros of A left out (ARITHMETIC.md 7,
// "Skip").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa {

struct SkipWindow {
  int rows = 16;    // of the array, unused ones included
  int window = 16;  // k per window
  int depth = 2;    // windows of B staged at a time
  int port = 4;     // k-slices of B staged per cycle
  bool skip = true;

  // Throws std::invalid_argument unless all sizes are at least 1.
  void check() const;
  constexpr std::int64_t windows(std::int64_t k) const { return (k + window - 1) / window; }
};

// What one step of the array costs.
struct SkipSchedule {
  std::uint64_t cycles = 0;          // until the last row has finished the last window
  std::uint64_t elements_taken = 0;  // of A, by the rows in use
  friend bool operator==(const SkipSchedule&, const SkipSchedule&) = default;
};

// Non-zero elements of A[rows, k] (row-major codes) per row and window, row-major. Either zero is zero, NaN
// is not.
std::vector<std::uint32_t> nonzero_counts(std::span<const std::uint8_t> a, const Format& format,
                                          std::int64_t rows, std::int64_t k, int window);

// `nonzero` has one count per row in use and window, row-major; at most `rows` rows. Throws
// std::invalid_argument for a count above its window's length and for sizes that do not fit.
SkipSchedule skip_schedule(const SkipWindow& array, std::int64_t k, std::span<const std::uint32_t> nonzero);

// The same for many steps of one array, without an allocation per step, on counts where they lie in a larger
// matrix.
class SkipScheduler {
 public:
  // Throws what SkipWindow::check throws.
  explicit SkipScheduler(const SkipWindow& array);

  const SkipWindow& array() const { return array_; }

  // The counts of row r begin at nonzero[r * stride]. Count is std::uint16_t or std::uint32_t. Throws what
  // skip_schedule throws.
  template <class Count>
  SkipSchedule schedule(std::int64_t k, std::span<const Count> nonzero, std::int64_t rows_in_use,
                        std::int64_t stride);
  // Skipping off, whatever the array's setting: no counts are needed.
  SkipSchedule dense(std::int64_t k, std::int64_t rows_in_use);

 private:
  // taken(row, w, length): elements that a row in use takes of window w; `rows` are all of the array.
  template <class Taken>
  SkipSchedule recurrence(std::int64_t k, std::int64_t rows_in_use, std::int64_t rows, const Taken& taken);

  SkipWindow array_;
  std::vector<std::uint64_t> row_done_;   // T(r, w)
  std::vector<std::uint64_t> slot_free_;  // max over r of T(r, w), slot w mod depth
};

}  // namespace mantissa

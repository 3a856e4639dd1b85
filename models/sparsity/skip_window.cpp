#include "models/sparsity/skip_window.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

void check_schedule(const SkipWindow& array, std::int64_t k, std::size_t counts) {
  array.check();
  if (k < 1 || k > std::int64_t{1} << 31) {
    throw std::invalid_argument("a step has 1..2^31 of k, not " + std::to_string(k));
  }
  const auto windows = static_cast<std::size_t>(array.windows(k));
  if (counts % windows != 0 || counts / windows > static_cast<std::size_t>(array.rows)) {
    throw std::invalid_argument(std::to_string(counts) + " non-zero counts are not those of up to " +
                                std::to_string(array.rows) + " rows of " + std::to_string(windows) +
                                " windows");
  }
}

}  // namespace

void SkipWindow::check() const {
  if (rows < 1 || window < 1 || depth < 1 || port < 1) {
    throw std::invalid_argument("skip window of rows " + std::to_string(rows) + ", window " +
                                std::to_string(window) + ", depth " + std::to_string(depth) + ", port " +
                                std::to_string(port) + ": each must be at least 1");
  }
}

std::vector<std::uint32_t> nonzero_counts(std::span<const std::uint8_t> a, const Format& format,
                                          std::int64_t rows, std::int64_t k, int window) {
  if (rows < 0 || k < 1 || window < 1 ||
      static_cast<unsigned __int128>(rows) * static_cast<unsigned __int128>(k) != a.size()) {
    throw std::invalid_argument("a tile of " + std::to_string(rows) + " x " + std::to_string(k) +
                                " in windows of " + std::to_string(window) + " does not fit " +
                                std::to_string(a.size()) + " elements");
  }
  const std::int64_t windows = (k + window - 1) / window;
  std::vector<std::uint32_t> counts(rows * windows);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < k; ++i) {
      if (!format.is_zero(a[row * k + i])) ++counts[row * windows + i / window];
    }
  }
  return counts;
}

SkipSchedule skip_schedule(const SkipWindow& array, std::int64_t k, std::span<const std::uint32_t> nonzero) {
  check_schedule(array, k, nonzero.size());
  const std::int64_t windows = array.windows(k);
  const auto rows_in_use = static_cast<std::int64_t>(nonzero.size()) / windows;
  SkipSchedule schedule;
  std::uint64_t staged = 0;                         // Ld(w)
  std::vector<std::uint64_t> row_done(array.rows);  // T(r, w)
  std::vector<std::uint64_t> all_done(windows);     // max over r of T(r, w): the window's slot is free
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::uint64_t length = std::min<std::int64_t>(array.window, k - w * array.window);
    const std::uint64_t slot_free = w < array.depth ? 0 : all_done[w - array.depth];
    staged = std::max(staged, slot_free) + (length + array.port - 1) / array.port;
    for (std::int64_t row = 0; row < array.rows; ++row) {
      const bool in_use = row < rows_in_use;
      const std::uint64_t count = in_use ? nonzero[row * windows + w] : 0;
      if (count > length) {
        throw std::invalid_argument("row " + std::to_string(row) + " has " + std::to_string(count) +
                                    " non-zero elements in a window of " + std::to_string(length));
      }
      const std::uint64_t taken = array.skip ? count : length;
      row_done[row] = std::max(row_done[row], staged) + std::max<std::uint64_t>(1, taken);
      if (in_use) schedule.elements_taken += taken;
      all_done[w] = std::max(all_done[w], row_done[row]);
    }
  }
  schedule.cycles = all_done.back();
  return schedule;
}

}  // namespace mantissa

#include "models/sparsity/skip_window.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

void check_length(std::int64_t k) {
  if (k < 1 || k > std::int64_t{1} << 31) {
    throw std::invalid_argument("a step has 1..2^31 of k, not " + std::to_string(k));
  }
}

void check_step(const SkipWindow& array, std::int64_t k, std::int64_t rows_in_use) {
  check_length(k);
  if (rows_in_use < 0 || rows_in_use > array.rows) {
    throw std::invalid_argument(std::to_string(rows_in_use) + " rows in use do not fit an array of " +
                                std::to_string(array.rows));
  }
}

[[noreturn]] void throw_count(std::int64_t row, std::uint64_t count, std::uint64_t length) {
  throw std::invalid_argument("row " + std::to_string(row) + " has " + std::to_string(count) +
                              " non-zero elements in a window of " + std::to_string(length));
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
  SkipScheduler scheduler(array);
  check_length(k);
  const std::int64_t windows = array.windows(k);
  const auto counts = static_cast<std::int64_t>(nonzero.size());
  if (counts % windows != 0) {
    throw std::invalid_argument(std::to_string(counts) + " non-zero counts are not those of rows of " +
                                std::to_string(windows) + " windows");
  }
  return scheduler.schedule(k, nonzero, counts / windows, windows);
}

SkipScheduler::SkipScheduler(const SkipWindow& array) : array_(array) {
  array.check();
  row_done_.resize(array.rows);
}

template <class Taken>
SkipSchedule SkipScheduler::recurrence(std::int64_t k, std::int64_t rows_in_use, std::int64_t rows,
                                       const Taken& taken) {
  const std::int64_t windows = array_.windows(k);
  const std::int64_t slots = std::min<std::int64_t>(array_.depth, windows);
  std::fill(row_done_.begin(), row_done_.end(), 0);
  slot_free_.assign(slots, 0);
  SkipSchedule schedule;
  std::uint64_t staged = 0;  // Ld(w)
  std::int64_t slot = 0;     // w mod depth
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::uint64_t length = std::min<std::int64_t>(array_.window, k - w * array_.window);
    staged = std::max(staged, slot_free_[slot]) + (length + array_.port - 1) / array_.port;
    std::uint64_t all_done = 0;
    const auto finish = [&](std::uint64_t& done, std::uint64_t elements) {
      done = std::max(done, staged) + std::max<std::uint64_t>(1, elements);
      all_done = std::max(all_done, done);
    };
    for (std::int64_t row = 0; row < rows_in_use; ++row) {
      const std::uint64_t elements = taken(row, w, length);
      finish(row_done_[row], elements);
      schedule.elements_taken += elements;
    }
    for (std::int64_t row = rows_in_use; row < rows; ++row) finish(row_done_[row], array_.skip ? 0 : length);
    slot_free_[slot] = all_done;
    slot = slot + 1 == slots ? 0 : slot + 1;
    schedule.cycles = all_done;
  }
  return schedule;
}

template <class Count>
SkipSchedule SkipScheduler::schedule(std::int64_t k, std::span<const Count> nonzero, std::int64_t rows_in_use,
                                     std::int64_t stride) {
  check_step(array_, k, rows_in_use);
  const std::int64_t windows = array_.windows(k);
  if (stride < windows ||
      (rows_in_use > 0 &&
       (stride > std::numeric_limits<std::int64_t>::max() / (2 * rows_in_use) ||
        static_cast<std::int64_t>(nonzero.size()) < (rows_in_use - 1) * stride + windows))) {
    throw std::invalid_argument(std::to_string(nonzero.size()) + " non-zero counts are not those of " +
                                std::to_string(rows_in_use) + " rows of " + std::to_string(windows) +
                                " windows, " + std::to_string(stride) + " apart");
  }
  const bool skip = array_.skip;
  const Count* counts = nonzero.data();
  return recurrence(k, rows_in_use, array_.rows, [=](std::int64_t row, std::int64_t w, std::uint64_t length) {
    const std::uint64_t count = counts[row * stride + w];
    if (count > length) throw_count(row, count, length);
    return skip ? count : length;
  });
}
template SkipSchedule SkipScheduler::schedule(std::int64_t, std::span<const std::uint16_t>, std::int64_t,
                                              std::int64_t);
template SkipSchedule SkipScheduler::schedule(std::int64_t, std::span<const std::uint32_t>, std::int64_t,
                                              std::int64_t);

SkipSchedule SkipScheduler::dense(std::int64_t k, std::int64_t rows_in_use) {
  check_step(array_, k, rows_in_use);
  // All rows do the same, used or not.
  SkipSchedule schedule =
      recurrence(k, 1, 1, [](std::int64_t, std::int64_t, std::uint64_t length) { return length; });
  schedule.elements_taken *= static_cast<std::uint64_t>(rows_in_use);
  return schedule;
}

}  // namespace mantissa

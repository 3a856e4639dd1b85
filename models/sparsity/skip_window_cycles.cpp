#include "models/sparsity/skip_window_cycles.hpp"

#include <bit>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

constexpr int mask_bits = 64;

// The lowest set bit; negative: none.
int first_of(std::span<const std::uint64_t> mask) {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) return static_cast<int>(i) * mask_bits + std::countr_zero(mask[i]);
  }
  return -1;
}

// Clears the lowest set bit and tells whether none is left.
bool drop_first(std::span<std::uint64_t> mask) {
  std::size_t i = 0;
  while (i < mask.size() && mask[i] == 0) ++i;
  if (i == mask.size()) return true;
  mask[i] &= mask[i] - 1;
  while (i < mask.size() && mask[i] == 0) ++i;
  return i == mask.size();
}

bool at_most_one(std::span<const std::uint64_t> mask) {
  int count = 0;
  for (const std::uint64_t part : mask) count += std::popcount(part);
  return count <= 1;
}

}  // namespace

SkipWindowCycles::SkipWindowCycles(const SkipWindow& array) : array_(array) {
  array.check();
  mask_words_ = (static_cast<std::size_t>(array.window) + mask_bits - 1) / mask_bits;
  left_.resize(static_cast<std::size_t>(array.depth) * array.rows * mask_words_);
  rows_.resize(array.rows);
  slot_rows_.resize(array.depth);
}

int SkipWindowCycles::word(int row) const {
  if (rows_[row].windows == 0) return SkipWork::nothing;
  const int k = first_of(left(rows_[row].slot, row));
  return k < 0 ? SkipWork::nothing : rows_[row].slot * array_.window + k;
}

bool SkipWindowCycles::last() const {
  if (!closing_) return false;
  for (int row = 0; row < array_.rows; ++row) {
    const Row& at = rows_[row];
    // A window without elements takes one cycle too.
    if (at.windows > 1 || (at.windows == 1 && !at_most_one(left(at.slot, row)))) return false;
  }
  return true;
}

SkipWork SkipWindowCycles::work() const {
  SkipWork work{.word = std::vector<int>(array_.rows), .last = last()};
  for (int row = 0; row < array_.rows; ++row) work.word[row] = word(row);
  return work;
}

void SkipWindowCycles::finish_work() {
  if (rows_working_ == 0) return;
  for (int row = 0; row < array_.rows; ++row) {
    Row& at = rows_[row];
    if (at.windows == 0 || !drop_first(left(at.slot, row))) continue;
    --slot_rows_[at.slot];
    at.slot = at.slot + 1 == array_.depth ? 0 : at.slot + 1;
    if (--at.windows == 0) --rows_working_;
  }
  if (rows_working_ == 0) closing_ = false;
}

void SkipWindowCycles::advance(const SkipBeat& beat) {
  std::vector<std::uint8_t> nonzero;
  for (const std::vector<bool>& slice : beat.nonzero) {
    if (slice.size() != rows_.size()) throw std::invalid_argument("a slice has one element per row");
    nonzero.insert(nonzero.end(), slice.begin(), slice.end());
  }
  advance(nonzero, beat.skip, beat.last);
}

void SkipWindowCycles::advance(std::span<const std::uint8_t> nonzero, bool skip, bool last) {
  const int slices = static_cast<int>(nonzero.size() / rows_.size());
  if (!ready()) throw std::logic_error("a beat that the skip window is not ready for");
  if (slices < 1 || slices > array_.port || staged_ + slices > array_.window) {
    throw std::invalid_argument("a beat of " + std::to_string(slices) + " slices after " +
                                std::to_string(staged_) + " of a window of " + std::to_string(array_.window));
  }
  finish_work();
  const std::uint8_t* element = nonzero.data();
  for (int slice = 0; slice < slices; ++slice, ++staged_) {
    const std::size_t part = staged_ / mask_bits;
    const std::uint64_t bit = std::uint64_t{1} << (staged_ % mask_bits);
    std::uint64_t* mask = left(slot_, 0).data() + part;
    for (int row = 0; row < array_.rows; ++row, mask += mask_words_) {
      if (*element++ != 0 || !skip) *mask |= bit;
    }
  }
  if (staged_ < array_.window && !last) return;
  for (Row& row : rows_) {
    if (row.windows++ == 0) ++rows_working_;
  }
  slot_rows_[slot_] = array_.rows;
  slot_ = slot_ + 1 == array_.depth ? 0 : slot_ + 1;
  staged_ = 0;
  closing_ = last;
}

}  // namespace mantissa

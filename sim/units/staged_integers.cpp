#include "sim/units/staged_integers.hpp"

#include <algorithm>

namespace mantissa {
namespace {

// Slice `index` of a port, of so many bits per element.
void read_slice(const Bits& bits, int index, int width, std::span<std::uint16_t> word) {
  const int count = static_cast<int>(word.size());
  for (int i = 0; i < count; ++i)
    word[i] = static_cast<std::uint16_t>(bits.field((index * count + i) * width, width));
}

}  // namespace

StagedIntegers::StagedIntegers(const IntArray& array, std::size_t words)
    : array_(array), rows_(array.rows()), cols_(array.cols), a_(words * rows_), b_(words * cols_) {}

void StagedIntegers::clear() {
  std::fill(a_.begin(), a_.end(), 0);
  std::fill(b_.begin(), b_.end(), 0);
}

void StagedIntegers::stage(int index, int word, const Bits& a, const Bits& b,
                           std::span<std::uint8_t> nonzero) {
  const auto a_word = std::span(a_).subspan(word * rows_, rows_);
  read_slice(a, index, array_.a_bits, a_word);
  read_slice(b, index, array_.b_bits, std::span(b_).subspan(word * cols_, cols_));
  for (std::size_t row = 0; row < rows_; ++row) nonzero[row] = a_word[row] != 0 ? 1 : 0;
}

bool StagedIntegers::accumulate(int row, int word, std::span<const ColumnRange> cols,
                                std::span<std::uint64_t> sums) const {
  const std::uint16_t a = a_[word * rows_ + row];
  bool wrapped = false;
  for (const ColumnRange& range : cols) {
    const std::uint16_t* b = b_.data() + word * cols_ + range.first;
    for (int i = 0; i < range.count; ++i) {
      std::uint64_t& sum = sums[range.first + i];
      const WrappedSum next = int_array_step(array_, a, b[i], sum);
      wrapped = wrapped || next.wrapped;
      sum = next.acc;
    }
  }
  return wrapped;
}

}  // namespace mantissa

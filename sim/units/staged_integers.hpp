// The staging memory of the arrays of integers, and the step of a row of their elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/int_array.hpp"
#include "sim/dut/bits.hpp"
#include "sim/units/staged_codes.hpp"

namespace mantissa {

class StagedIntegers {
 public:
  StagedIntegers(const IntArray& array, std::size_t words);
  void clear();

  // Slice `index` of a beat on the ports goes into a word. `nonzero` has a byte per row, and is set.
  void stage(int index, int word, const Bits& a, const Bits& b, std::span<std::uint8_t> nonzero);
  // For the self-check: one bit of the word is wrong.
  void corrupt(int word) { b_[static_cast<std::size_t>(word) * cols_] ^= 1U; }

  // A row's product with these columns joins its sums, `sums` being those of all columns. True: one has
  // wrapped.
  bool accumulate(int row, int word, std::span<const ColumnRange> cols, std::span<std::uint64_t> sums) const;

 private:
  IntArray array_;
  std::size_t rows_;
  std::size_t cols_;
  // Per word: elements of A by row and of B by column.
  std::vector<std::uint16_t> a_;
  std::vector<std::uint16_t> b_;
};

}  // namespace mantissa

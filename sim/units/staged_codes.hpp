// The staging memory of the arrays of codes, and the step of a row of their elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/kernels/decode_table.hpp"
#include "models/mac/fp8_mac.hpp"
#include "sim/dut/bits.hpp"

namespace mantissa {

// Columns that stand side by side.
struct ColumnRange {
  int first = 0;
  int count = 0;
};

class StagedCodes {
 public:
  StagedCodes(const MacConfig& mac, int rows, int cols, std::size_t words);
  void clear();

  // Slice `index` of a beat on the ports goes into a word. `nonzero` has a byte per row, and is set.
  void stage(int index, int word, const Bits& a, const Bits& b, std::span<std::uint8_t> nonzero);
  // The word's B has Inf or NaN in one of these columns.
  bool special(int word, std::span<const ColumnRange> cols) const;
  // For the self-check: one bit of the word is wrong.
  void corrupt(int word);

  // A row's product with these columns joins its sums, `sums` being those of all columns.
  void accumulate(int row, int word, std::span<const ColumnRange> cols, std::span<std::uint32_t> sums) const;

 private:
  void decode(int word);

  // Of all codes.
  kernels::DecodeTable a_values_;
  kernels::DecodeTable b_values_;

  std::size_t cols_;
  // Per word: codes of A by row and of B by column, and B's values.
  std::vector<std::uint8_t> a_;
  std::vector<std::uint8_t> b_;
  std::vector<float> values_;
  int rows_;
  MacConfig mac_;
  bool fp32_sums_;
  std::array<bool, 256> a_zero_{};
  std::array<bool, 256> b_special_{};  // Inf or NaN
};

}  // namespace mantissa

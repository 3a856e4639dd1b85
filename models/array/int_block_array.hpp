// int_block_array: int_array with two sets of accumulators, run by run and exchange by exchange
// (ARITHMETIC.md 5, 7, "Blocks: the second machine").
#pragma once

#include <cstdint>

#include "models/array/int_array.hpp"
#include "models/array/two_sets.hpp"

namespace mantissa {

struct IntBlockArray {
  SkipWindow skip_window = {};
  int cols = 16;
  int a_bits = 8;  // 8 or 16
  int b_bits = 8;  // 8 or 16, not both 16
  int acc_bits = int_mac_acc_bits;
  int sum_rows = 1;  // rows of sums that are exchanged in a cycle

  // Throws std::invalid_argument for sizes below 1 and widths that int_mac does not have.
  void check() const;
  int rows() const { return skip_window.rows; }
  int sum_bits() const { return acc_bits; }
  int exchange_cycles() const { return (rows() + sum_rows - 1) / sum_rows; }
  // The same elements with one set.
  IntArray int_array() const {
    return {
        .skip_window = skip_window, .cols = cols, .a_bits = a_bits, .b_bits = b_bits, .acc_bits = acc_bits};
  }
};

using IntBlockRun = ArrayRunOf<std::uint16_t>;

// Sums are exact modulo 2^acc_bits.
class IntBlockSums : public TwoSets<std::uint64_t> {
 public:
  // Throws what IntBlockArray::check throws.
  explicit IntBlockSums(const IntBlockArray& array);

  // As BlockSums::run.
  SkipSchedule run(const IntBlockRun& run);
  // In the last tile whose sums went into the shadow set one of them wrapped: it is no result.
  bool shadow_overflow() const { return shadow_events() != 0; }

 private:
  IntArray array_;
};

}  // namespace mantissa

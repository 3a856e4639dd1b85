// What the accumulator alone loses: sums as they leave the array against FP64 on the numbers that it
// multiplied, so that quantizers have no part in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/mac/lowering.hpp"
#include "models/tensor/encoded_tensor.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::replay {

class AccumulatorSample {
 public:
  // Of a small product all rows are looked at. Of one with more than 2^24 multiplications it is every 17th
  // row (of 136 rows and more; else every eighth part of them): a second product in FP64 would cost as much
  // as the first, and 17 has no factor in common with the sides of images.
  AccumulatorSample(const PassSides& sides, std::int64_t groups, int threads);

  // What follows is multiplied with it: [k, n].
  void multiply_with(const EncodedTensor& b);
  // Rows of A from `first_row` of the product on, [rows, k], and their sums, [rows, n].
  void add(const EncodedTensor& a, std::int64_t first_row, std::span<const float> sums);
  // The same rows where the operands are FP32: the reference is there.
  void add(std::span<const double> reference, std::span<const float> sums);

  AccumulatorError error() const;

 private:
  std::int64_t k_;
  std::int64_t stride_ = 1;
  int threads_;
  std::int64_t n_ = 0;         // of b
  std::vector<float> b_;       // as numbers, in the scale of the sums
  std::vector<float> sums_;    // that were looked at
  std::vector<double> exact_;  // what they should have been
};

}  // namespace mantissa::replay

// What stands behind an array of integers: an exact sum and the sums of its row of A and its column of B
// become FP32, and the bias is added (ARITHMETIC.md 5). Row and column sums are taken from the operands as
// they pass for the first time.
#pragma once

#include <cstdint>
#include <vector>

#include "models/mac/arithmetic.hpp"
#include "sim/machine/array_job.hpp"

namespace mantissa {

class Dequantizer {
 public:
  explicit Dequantizer(const ArrayJob& job)
      : job_(job),
        a_(job.a.as<EncodedTensor::Integers>().matrix()),
        b_(job.b.as<EncodedTensor::Integers>().matrix()),
        row_sums_(job.m),
        column_sums_(job.n) {}

  void add_a(std::int64_t row, std::uint32_t q) { row_sums_[row] += q; }
  void add_b(std::int64_t column, std::uint32_t q) { column_sums_[column] += q; }

  float output(std::uint64_t sum, std::int64_t row, std::int64_t column) const {
    const float value = int_gemm_output(sum, row_sums_[row], column_sums_[column],
                                        static_cast<std::uint64_t>(job_.k), a_, b_);
    return job_.bias.empty() ? value : f32::add(value, job_.bias[column]);
  }

 private:
  const ArrayJob& job_;
  IntMatrix a_;
  IntMatrix b_;
  std::vector<std::uint64_t> row_sums_;
  std::vector<std::uint64_t> column_sums_;
};

}  // namespace mantissa

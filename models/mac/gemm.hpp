// The golden GEMM: every output by scalar arithmetic in k order, for every accumulator option. Slow and
// readable; models/kernels/gemm.hpp gives the same bits fast.
#pragma once

#include <cstdint>
#include <span>

#include "models/mac/accumulator.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

// C[m,n] = A[m,k] B[k,n], row-major codes of up to 8 bits.
struct GemmOperands {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::span<const std::uint8_t> a;
  std::span<const std::uint8_t> b;
  Format a_format = formats::e5m2;
  Format b_format = formats::e5m2;
};

struct GemmOptions {
  Accumulator accumulator;
  // A zero element of A is absent: against Inf or NaN in B it is suppressed instead of giving NaN.
  bool skip_zero_a = false;
  // The array decides which random number an output takes: draws.lanes is its number of columns.
  int rows = 16;
  DrawSource draws;
  std::int64_t first_tile = 0;  // grouped convolutions: tile numbers continue
};

struct GemmCounts {
  std::uint64_t suppressed = 0;  // zero A elements skipped against Inf or NaN in B
  friend bool operator==(const GemmCounts&, const GemmCounts&) = default;
};

// Throws std::invalid_argument for a side outside 0..2^31.
void check_gemm_sides(std::int64_t m, std::int64_t n, std::int64_t k);

// Throws std::invalid_argument for sizes that do not fit the spans, formats whose product is not exact, K >
// 2^24.
void check_gemm(const GemmOperands& operands, const GemmOptions& options, std::size_t outputs);

// Values of the accumulator format as FP32, row-major, canonical NaN, zeros positive.
GemmCounts gemm(const GemmOperands& operands, const GemmOptions& options, std::span<float> c);

// One block of outputs: rows [row0, row1) and columns [col0, col1) of C. No checks.
GemmCounts gemm_block(const GemmOperands& operands, const GemmOptions& options, std::span<float> c,
                      std::int64_t row0, std::int64_t row1, std::int64_t col0, std::int64_t col1);

}  // namespace mantissa

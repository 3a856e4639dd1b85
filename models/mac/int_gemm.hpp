// The dequantised integer GEMM: exact integer sums, then FP32 fused operations that undo both operands' scale
// and minimum (ARITHMETIC.md 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mantissa {

// A matrix of GEMMLOWP integers; an element stands for q*scale + min.
struct IntMatrix {
  std::span<const std::uint16_t> q = {};  // row-major
  int bits = 8;                           // 8 or 16
  float scale = 1;
  float min = 0;
};

// C[m,n] = A[m,k] B[k,n]. At most one of A and B has 16 bits: int_mac multiplies 8 by 8 or 16.
struct IntGemmOperands {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  IntMatrix a;
  IntMatrix b;
};

// Row-major FP32. Throws std::invalid_argument for sizes that do not fit the spans, widths that int_mac does
// not have and integers wider than stated, std::overflow_error where a sum leaves int_mac's accumulator.
void int_gemm(const IntGemmOperands& operands, std::span<float> c);

// Throws std::invalid_argument as int_gemm does.
void check_int_gemm(const IntGemmOperands& operands, std::size_t outputs);

// The part of it that does not look at sizes: widths that int_mac has, integers that fit them.
void check_int_operands(const IntMatrix& a, const IntMatrix& b);

// One output from its exact sums: S = sum qa*qb, SA = sum qa of its row, SB = sum qb of its column.
float int_gemm_output(std::uint64_t s, std::uint64_t sa, std::uint64_t sb, std::uint64_t k,
                      const IntMatrix& a, const IntMatrix& b);

}  // namespace mantissa

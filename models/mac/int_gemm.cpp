#include "models/mac/int_gemm.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/gemm.hpp"
#include "models/mac/int_mac.hpp"

namespace mantissa {
namespace {

float fp32_of(std::uint64_t integer) {
  const Exact value = Exact::integer(false, integer, 0);
  return fp32_value(round(value, formats::fp32, Rounding::rne(), 0, Overflow::ieee).code);
}

void check_operand(const char* name, const IntMatrix& matrix) {
  if (matrix.bits != 8 && matrix.bits != 16) {
    throw std::invalid_argument(std::string("integers of ") + name + " have 8 or 16 bits, not " +
                                std::to_string(matrix.bits));
  }
  std::uint16_t any = 0;
  for (const std::uint16_t q : matrix.q) any |= q;
  if (any >> matrix.bits != 0) {
    throw std::invalid_argument(std::string("integer GEMM: an element of ") + name + " does not fit " +
                                std::to_string(matrix.bits) + " bits");
  }
}

void check_size(const char* name, const IntMatrix& matrix, std::int64_t rows, std::int64_t cols) {
  const auto elements = static_cast<unsigned __int128>(rows) * static_cast<unsigned __int128>(cols);
  if (elements != matrix.q.size()) {
    throw std::invalid_argument(std::string("integer GEMM: ") + name + " should be " + std::to_string(rows) +
                                " x " + std::to_string(cols) + " but has " + std::to_string(matrix.q.size()) +
                                " elements");
  }
}

}  // namespace

void check_int_operands(const IntMatrix& a, const IntMatrix& b) {
  check_operand("A", a);
  check_operand("B", b);
  if (a.bits == 16 && b.bits == 16) {
    throw std::invalid_argument("integer GEMM of 16 x 16 bits; int_mac multiplies 8 by 8 or 16");
  }
}

void check_int_gemm(const IntGemmOperands& operands, std::size_t outputs) {
  check_gemm_sides(operands.m, operands.n, operands.k);
  check_size("A", operands.a, operands.m, operands.k);
  check_size("B", operands.b, operands.k, operands.n);
  check_int_operands(operands.a, operands.b);
  if (static_cast<unsigned __int128>(operands.m) * static_cast<unsigned __int128>(operands.n) != outputs) {
    throw std::invalid_argument("integer GEMM of " + std::to_string(operands.m) + " x " +
                                std::to_string(operands.n) + " does not fit " + std::to_string(outputs) +
                                " outputs");
  }
}

float int_gemm_output(std::uint64_t s, std::uint64_t sa, std::uint64_t sb, std::uint64_t k,
                      const IntMatrix& a, const IntMatrix& b) {
  const float mins = f32::mul(f32::mul(a.min, b.min), fp32_of(k));
  const float columns = f32::fma(f32::mul(b.scale, a.min), fp32_of(sb), mins);
  const float rows = f32::fma(f32::mul(a.scale, b.min), fp32_of(sa), columns);
  return f32::fma(f32::mul(a.scale, b.scale), fp32_of(s), rows);
}

void int_gemm(const IntGemmOperands& operands, std::span<float> c) {
  check_int_gemm(operands, c.size());
  const auto [m, n, k, a, b] = operands;
  std::vector<std::uint64_t> row_sum(m);
  std::vector<std::uint64_t> column_sum(n);
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t i = 0; i < k; ++i) row_sum[row] += a.q[row * k + i];
  }
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t col = 0; col < n; ++col) column_sum[col] += b.q[i * n + col];
  }
  // The product does not care which operand is the wide one; int_mac's second port takes it.
  const bool wide_a = a.bits == 16;
  const int wide_bits = std::max(a.bits, b.bits);
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      std::uint64_t sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const std::uint32_t qa = a.q[row * k + i];
        const std::uint32_t qb = b.q[i * n + col];
        sum = wide_a ? int_mac(qb, qa, sum, wide_bits) : int_mac(qa, qb, sum, wide_bits);
      }
      c[row * n + col] = int_gemm_output(sum, row_sum[row], column_sum[col], k, a, b);
    }
  }
}

}  // namespace mantissa

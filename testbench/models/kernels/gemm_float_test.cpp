// GEMMs on FP32 operands and integers against the hardware's own FP64 and FMA and against the scalar integer
// model, on every SIMD target and with one and two threads.
#include "models/kernels/gemm_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "testbench/models/kernels/all_targets.hpp"

namespace mantissa {
namespace {

struct Shape {
  std::int64_t m, n, k;
};
// Below, at and beyond register tiles of every width and blocks of k; a single row, column, product; nothing
// to add.
constexpr Shape shapes[] = {{1, 1, 1},    {3, 5, 7},     {12, 32, 16}, {13, 33, 17},  {6, 16, 512},
                            {25, 3, 513}, {2, 70, 1100}, {200, 17, 9}, {1, 2100, 40}, {5, 4, 0},
                            {50, 8, 520}, {49, 16, 20},  {24, 40, 33}, {400, 57, 5}};

// Exponents far apart, so that every step rounds.
std::vector<float> numbers(std::size_t count, std::mt19937_64& engine, int spread) {
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  std::vector<float> values(count);
  for (float& x : values) x = std::ldexp(mantissa(engine), exponent(engine));
  return values;
}

template <class T>
auto bits_of(const std::vector<T>& values) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<Bits> bits;
  bits.reserve(values.size());
  for (const T value : values) bits.push_back(std::bit_cast<Bits>(value));
  return bits;
}

TEST(GemmFp64, AddsInOrderWithOneRoundingPerStep) {
  std::mt19937_64 engine(5);
  for (const Shape& shape : shapes) {
    const std::int64_t m = shape.m;
    const std::int64_t n = shape.n;
    const std::int64_t k = shape.k;
    const std::vector<float> a = numbers(m * k, engine, 20);
    const std::vector<float> b = numbers(k * n, engine, 20);
    std::vector<double> expected(m * n);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
        expected[i * n + j] = sum;
      }
    }
    test::on_every_target([&](const std::string& target) {
      for (const int threads : {1, 2}) {
        std::vector<double> c(m * n, -1);
        kernels::gemm_fp64({m, n, k, a, b}, c, threads);
        ASSERT_EQ(bits_of(c), bits_of(expected)) << target << " " << m << " x " << n << " x " << k;
      }
    });
  }
}

TEST(GemmFloat, IsOneFusedMultiplyAddPerStep) {
  std::mt19937_64 engine(6);
  for (const int spread : {3, 60}) {
    for (const Shape& shape : shapes) {
      const std::int64_t m = shape.m;
      const std::int64_t n = shape.n;
      const std::int64_t k = shape.k;
      const std::vector<float> a = numbers(m * k, engine, spread);
      const std::vector<float> b = numbers(k * n, engine, spread);
      std::vector<float> expected(m * n);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
          expected[i * n + j] = sum;
        }
      }
      test::on_every_target([&](const std::string& target) {
        for (const int threads : {1, 2}) {
          std::vector<float> c(m * n, -1);
          kernels::gemm_float({m, n, k, a, b}, c, threads);
          ASSERT_EQ(bits_of(c), bits_of(expected)) << target << " " << m << " x " << n << " x " << k;
        }
      });
    }
  }
}

TEST(GemmFloat, ZerosArePositiveAndNanIsCanonical) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {0x1p-100F, inf};
  const std::vector<float> b = {-0x1p-100F, 0.0F};  // underflow to -0; Inf * 0
  test::on_every_target([&](const std::string&) {
    std::vector<float> c(1);
    kernels::gemm_float({1, 1, 1, std::span(a).first(1), std::span(b).first(1)}, c);
    EXPECT_EQ(fp32_bits(c[0]), 0U);
    kernels::gemm_float({1, 1, 2, a, b}, c);
    EXPECT_EQ(fp32_bits(c[0]), formats::fp32.nan_code());
  });
}

TEST(GemmFloat, RefusesSizesThatDoNotFit) {
  const std::vector<float> six(6);
  std::vector<float> c(4);
  std::vector<double> wide(4);
  EXPECT_THROW(kernels::gemm_float({2, 2, 2, six, six}, c), std::invalid_argument);
  EXPECT_THROW(kernels::gemm_fp64({2, 3, 3, six, six}, wide), std::invalid_argument);
}

TEST(IntGemmKernel, EqualsTheScalarModel) {
  std::mt19937_64 engine(7);
  for (const auto& [a_bits, b_bits] : {std::pair(8, 8), std::pair(8, 16), std::pair(16, 8)}) {
    for (const Shape& shape : {Shape{5, 6, 0}, Shape{13, 35, 40}, Shape{7, 9, 1200}}) {
      const std::int64_t m = shape.m;
      const std::int64_t n = shape.n;
      const std::int64_t k = shape.k;
      std::vector<std::uint16_t> a(m * k);
      std::vector<std::uint16_t> b(k * n);
      for (std::uint16_t& q : a) q = static_cast<std::uint16_t>(engine() & ((1U << a_bits) - 1));
      for (std::uint16_t& q : b) q = static_cast<std::uint16_t>(engine() & ((1U << b_bits) - 1));
      const IntGemmOperands operands{m, n, k, {a, a_bits, 0.01F, -1.3F}, {b, b_bits, 0.003F, -0.2F}};
      std::vector<float> expected(m * n);
      int_gemm(operands, expected);
      test::on_every_target([&](const std::string& target) {
        for (const int threads : {1, 2}) {
          std::vector<float> c(m * n, -1);
          kernels::int_gemm(operands, c, threads);
          ASSERT_EQ(bits_of(c), bits_of(expected)) << target;
        }
      });
    }
  }
}

}  // namespace
}  // namespace mantissa

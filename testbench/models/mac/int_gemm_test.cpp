// The dequantised integer GEMM against 128-bit sums and hardware FP32 operations.
#include "models/mac/int_gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/quantize/gemmlowp.hpp"

namespace mantissa {
namespace {

using Wide = unsigned __int128;

std::vector<std::uint16_t> random_integers(std::mt19937_64& engine, std::size_t count, int bits) {
  std::uniform_int_distribution<int> uniform(0, (1 << bits) - 1);
  std::vector<std::uint16_t> q(count);
  for (std::uint16_t& one : q) one = static_cast<std::uint16_t>(uniform(engine));
  return q;
}

float sum_of(const IntGemmOperands& g, std::int64_t row, std::int64_t col) {
  Wide s = 0;
  Wide sa = 0;
  Wide sb = 0;
  for (std::int64_t i = 0; i < g.k; ++i) {
    const Wide qa = g.a.q[row * g.k + i];
    const Wide qb = g.b.q[i * g.n + col];
    s += qa * qb;
    sa += qa;
    sb += qb;
  }
  const float constant = (g.a.min * g.b.min) * static_cast<float>(g.k);
  const float columns = std::fma(g.b.scale * g.a.min, static_cast<float>(sb), constant);
  const float rows = std::fma(g.a.scale * g.b.min, static_cast<float>(sa), columns);
  return std::fma(g.a.scale * g.b.scale, static_cast<float>(s), rows);
}

TEST(IntGemm, EqualsWideSumsAndHardwareFma) {
  std::mt19937_64 engine(21);
  std::uniform_real_distribution<float> real(-2, 2);
  for (const auto& [a_bits, b_bits] : {std::pair(8, 8), std::pair(8, 16), std::pair(16, 8)}) {
    for (const std::int64_t k : {0, 1, 7, 300, 3000}) {
      const std::int64_t m = 5;
      const std::int64_t n = 6;
      const std::vector<std::uint16_t> a = random_integers(engine, m * k, a_bits);
      const std::vector<std::uint16_t> b = random_integers(engine, k * n, b_bits);
      const IntGemmOperands operands{.m = m,
                                     .n = n,
                                     .k = k,
                                     .a = {a, a_bits, std::fabs(real(engine)) / 255, real(engine)},
                                     .b = {b, b_bits, std::fabs(real(engine)) / 255, real(engine)}};
      std::vector<float> c(m * n);
      int_gemm(operands, c);
      for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t col = 0; col < n; ++col) {
          ASSERT_EQ(c[row * n + col], sum_of(operands, row, col)) << a_bits << "x" << b_bits << " k " << k;
        }
      }
    }
  }
}

// Sums above 2^24 are themselves rounded to FP32 before they are used.
TEST(IntGemm, LargeSumsAreRoundedOnce) {
  std::mt19937_64 engine(22);
  const IntMatrix a{.scale = 0x1.555556p-8F, .min = -0.1F};
  const IntMatrix b{.scale = 0x1.8p-9F, .min = -1.7F};
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t s = engine() >> (16 + i % 30);
    const std::uint64_t sa = engine() >> (24 + i % 20);
    const std::uint64_t sb = engine() >> (24 + i % 17);
    const std::uint64_t k = engine() >> 40;
    const float constant = (a.min * b.min) * static_cast<float>(k);
    const float columns = std::fma(b.scale * a.min, static_cast<float>(sb), constant);
    const float rows = std::fma(a.scale * b.min, static_cast<float>(sa), columns);
    ASSERT_EQ(int_gemm_output(s, sa, sb, k, a, b), std::fma(a.scale * b.scale, static_cast<float>(s), rows));
  }
}

TEST(IntGemm, ApproximatesTheProductOfDequantisedMatrices) {
  std::mt19937_64 engine(23);
  std::normal_distribution<float> normal(0.2F, 1.0F);
  const std::int64_t k = 64;
  std::vector<float> x(k);
  std::vector<float> y(k);
  for (float& value : x) value = normal(engine);
  for (float& value : y) value = normal(engine);
  const GemmlowpRange a_range = GemmlowpRange::of(x, 8);
  const GemmlowpRange b_range = GemmlowpRange::of(y, 16);
  std::vector<std::uint16_t> qa(k);
  std::vector<std::uint16_t> qb(k);
  gemmlowp_quantize(x, a_range, Rounding::rne(), {}, qa);
  gemmlowp_quantize(y, b_range, Rounding::rne(), {}, qb);
  std::vector<float> c(1);
  int_gemm({.m = 1,
            .n = 1,
            .k = k,
            .a = {qa, 8, a_range.scale, a_range.min},
            .b = {qb, 16, b_range.scale, b_range.min}},
           c);
  double exact = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    exact += static_cast<double>(gemmlowp_dequantize(qa[i], a_range)) *
             static_cast<double>(gemmlowp_dequantize(qb[i], b_range));
  }
  EXPECT_NEAR(c[0], exact, 1e-4);
}

TEST(IntGemm, RefusesBadOperands) {
  const std::vector<std::uint16_t> q(6, 300);
  std::vector<float> c(4);
  const auto run = [&](std::int64_t m, int a_bits, int b_bits) {
    int_gemm({.m = m, .n = 2, .k = 3, .a = {.q = q, .bits = a_bits}, .b = {.q = q, .bits = b_bits}}, c);
  };
  EXPECT_THROW(run(2, 16, 16), std::invalid_argument);  // no such multiplier
  EXPECT_THROW(run(2, 8, 16), std::invalid_argument);   // 300 in 8 bits
  EXPECT_THROW(run(2, 12, 8), std::invalid_argument);
  EXPECT_THROW(run(1, 16, 8), std::invalid_argument);
  EXPECT_THROW(run(-2, 16, 8), std::invalid_argument);
}

TEST(IntGemm, RaisesAnErrorWhereTheAccumulatorWouldWrap) {
  // 255 * 65535 * k first needs 49 bits at this k.
  const std::int64_t k = ((std::int64_t{1} << 48) - 1) / (std::int64_t{255} * 65535) + 1;
  const std::vector<std::uint16_t> a(k, 255);
  const std::vector<std::uint16_t> b(k, 65535);
  std::vector<float> c(1);
  const std::span<const std::uint16_t> qa = a;
  const std::span<const std::uint16_t> qb = b;
  const auto run = [&](std::int64_t depth) {
    int_gemm({.m = 1,
              .n = 1,
              .k = depth,
              .a = {.q = qa.first(depth), .bits = 8},
              .b = {.q = qb.first(depth), .bits = 16}},
             c);
  };
  EXPECT_NO_THROW(run(k - 1));
  EXPECT_THROW(run(k), std::overflow_error);
}

}  // namespace
}  // namespace mantissa

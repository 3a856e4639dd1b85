// The exact register against MPFR and 128-bit integers.
#include "models/mac/wide_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/format/round.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

using test::Real;
namespace oracle = test::oracle;

// The register's value may be jammed below 63 bits: its leading 63 must be exact, and the rest zero or not.
void expect_value(const WideSum& sum, const Real& expected) {
  const Exact value = sum.value();
  ASSERT_EQ(value.is_zero(), expected.is_zero());
  if (value.is_zero()) {
    ASSERT_FALSE(value.negative);  // a sum that vanishes is +0
    return;
  }
  ASSERT_TRUE(value.is_finite());
  ASSERT_EQ(value.negative, expected.is_negative());
  ASSERT_EQ(value.exponent, expected.exponent());
  const Real units = expected.magnitude().scaled(62 - value.exponent);
  ASSERT_EQ(value.significand >> 1, units.whole());
  ASSERT_EQ((value.significand & 1) != 0, !(units.floor() == units));
}

TEST(WideSum, RandomFp32SumsEqualMpfr) {
  test::Random random(1);
  for (int run = 0; run < 400; ++run) {
    WideSum sum;
    Real expected(0.0);
    expect_value(sum, expected);
    std::vector<std::uint32_t> added;
    for (int i = 0; i < 60; ++i) {
      std::uint32_t code = test::random_code(formats::fp32, random);
      // Take back what was added before now and then, so that the top vanishes and small parts show.
      if (i % 3 == 2) code = added[random() % added.size()] ^ 0x80000000U;
      if (formats::fp32.is_nan(code) || formats::fp32.is_inf(code)) code = 0x7F7FFFFF;
      added.push_back(code);
      sum.add(decode(code, formats::fp32));
      expected = expected + oracle::value(code, formats::fp32);
      expect_value(sum, expected);
      if (HasFatalFailure()) return;
    }
    for (const std::uint32_t code : added) sum.add(decode(code ^ 0x80000000U, formats::fp32));
    expect_value(sum, Real(0.0));
  }
}

TEST(WideSum, Fp8ProductsEqualInt128) {
  test::Random random(2);
  WideSum sum;
  __int128 expected = 0;  // in units of 2^-32, the smallest product of two E5M2 numbers
  for (int i = 0; i < 200'000; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % 0x7C) | (random() % 2 == 0 ? 0x80U : 0U);
    const auto b = static_cast<std::uint32_t>(random() % 0x7C) | (random() % 2 == 0 ? 0x80U : 0U);
    const double product = to_double(a, formats::e5m2) * to_double(b, formats::e5m2);
    sum.add(Exact::from_double(product));
    expected += static_cast<__int128>(std::ldexp(product, 32));
    if (i % 64 != 0 || expected == 0) continue;
    const Exact value = sum.value();
    const __int128 magnitude = expected < 0 ? -expected : expected;
    ASSERT_EQ(value.negative, expected < 0);
    int top = 0;
    while (magnitude >> (top + 1) != 0) ++top;
    ASSERT_EQ(value.exponent, top - 32);
    const auto whole = static_cast<unsigned __int128>(magnitude) << (127 - top);
    const auto lead = static_cast<std::uint64_t>(whole >> 64);
    ASSERT_EQ(value.significand, lead | (static_cast<std::uint64_t>(whole) != 0 ? 1U : 0U));
  }
}

TEST(WideSum, GrowsBeyondFp32) {
  // 2^24 times the largest product is 2^24 times the largest FP32 number at most: add it in halves and
  // wholes.
  WideSum sum;
  Real expected(0.0);
  const Exact largest = decode(0x7F7FFFFF, formats::fp32);
  for (int i = 0; i < 1 << 16; ++i) {
    sum.add(largest);
    expected = expected + oracle::value(0x7F7FFFFF, formats::fp32);
  }
  expect_value(sum, expected);
  const Exact smallest = decode(0x80000001, formats::fp32);
  sum.add(smallest);
  expect_value(sum, expected + oracle::value(0x80000001, formats::fp32));
  for (int i = 0; i < 1 << 17; ++i) sum.add(largest.negated());
  for (int i = 0; i < 1 << 16; ++i) sum.add(largest);
  expect_value(sum, oracle::value(0x80000001, formats::fp32));
}

}  // namespace
}  // namespace mantissa

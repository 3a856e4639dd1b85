// Exact values: how they enter, how operations on them combine, and how they become whole multiples.
#include "models/format/exact.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/format/round.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

using test::Real;

Real real_of(const Exact& value) {
  if (value.is_nan()) return {};
  if (value.is_inf()) return Real::infinity(value.negative);
  return Real::integer(value.negative, value.significand, value.exponent - 63);
}

TEST(Exact, FromDouble) {
  test::Random random(1);
  for (const double value : {0.0, -0.0, 1.0, -1.5, 0x1p-1074, -0x1.8p-1060, 0x1.FFFFFFFFFFFFFp1023}) {
    EXPECT_TRUE(real_of(Exact::from_double(value)) == Real(value)) << value;
    EXPECT_EQ(Exact::from_double(value).negative, std::signbit(value));
  }
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) {
      ASSERT_TRUE(real_of(Exact::from_double(value)) == Real(value)) << value;
    }
  }
  EXPECT_EQ(Exact::from_double(INFINITY), Exact::inf(false));
  EXPECT_EQ(Exact::from_double(-INFINITY), Exact::inf(true));
  EXPECT_EQ(Exact::from_double(NAN), Exact::nan());
}

TEST(Exact, ProductsOfCodesAreExact) {
  test::Random random(2);
  for (int i = 0; i < 200000; ++i) {
    const std::uint32_t a = test::random_code(formats::fp32, random);
    const std::uint32_t b = test::random_code(formats::fp32, random);
    Flags flags;
    const Exact product = multiply(decode(a, formats::fp32), decode(b, formats::fp32), flags);
    const Real expected = test::oracle::value(a, formats::fp32) * test::oracle::value(b, formats::fp32);
    ASSERT_EQ(product.is_nan(), expected.is_nan());
    if (!expected.is_nan()) {
      ASSERT_TRUE(real_of(product) == expected) << a << " " << b;
    }
  }
}

// A jammed sum may differ from the exact one only below its 56 leading bits, and never in being exact there.
TEST(Exact, SumsKeep56BitsAndWhetherMoreFollow) {
  test::Random random(3);
  for (int i = 0; i < 200000; ++i) {
    const std::uint32_t a = test::random_code(formats::fp32, random);
    const int exponent = static_cast<int>((a >> 23) & 255) - 127;
    const std::uint32_t b = test::code_near(formats::fp32, exponent, 70, random);
    Flags flags;
    const Exact sum = add(decode(a, formats::fp32), decode(b, formats::fp32), flags);
    const Real expected = test::oracle::value(a, formats::fp32) + test::oracle::value(b, formats::fp32);
    ASSERT_EQ(sum.is_nan(), expected.is_nan());
    if (expected.is_nan()) continue;
    ASSERT_EQ(sum.is_zero(), expected.is_zero());
    if (!sum.is_finite()) continue;
    ASSERT_EQ(sum.negative, expected.is_negative());
    ASSERT_EQ(sum.exponent, expected.exponent());
    const Real units = expected.magnitude().scaled(55 - sum.exponent);
    ASSERT_EQ(sum.significand >> 8, units.whole()) << a << " " << b;
    ASSERT_EQ((sum.significand & 255) != 0, !(units.floor() == units)) << a << " " << b;
  }
}

TEST(Exact, RoundToMultipleCountsQuanta) {
  // 1000 eighths: every fraction of 125 and of its multiples has a closed form.
  for (std::uint64_t eighths = 1; eighths < 1000; ++eighths) {
    const Exact value = Exact::integer(false, eighths, -3);
    const std::uint64_t floor = eighths / 8;
    const std::uint64_t rest = eighths % 8;
    EXPECT_EQ(round_to_multiple(value, 0, Rounding::rtz(), 0).count, floor);
    const std::uint64_t nearest = floor + ((rest > 4 || (rest == 4 && floor % 2 == 1)) ? 1 : 0);
    EXPECT_EQ(round_to_multiple(value, 0, Rounding::rne(), 0).count, nearest);
    for (std::uint32_t draw = 0; draw < 8; ++draw) {
      const Multiple up = round_to_multiple(value, 0, Rounding::sr(3), draw | 0xF8);
      EXPECT_EQ(up.count, floor + (rest + draw >= 8 ? 1 : 0));
      EXPECT_EQ(up.inexact, rest != 0);
    }
    EXPECT_EQ(round_to_multiple(value, -3, Rounding::rne(), 0).count, eighths);
    EXPECT_EQ(round_to_multiple(value, -5, Rounding::rtz(), 0).count, 4 * eighths);
  }
}

TEST(Exact, RoundToMultipleFarFromOneQuantum) {
  const Exact one = Exact::integer(true, 1, 0);
  for (int quantum = 1; quantum < 200; ++quantum) {
    EXPECT_EQ(round_to_multiple(one, quantum, Rounding::rne(), 0).count, 0U);  // 1/2 ties to even
    EXPECT_TRUE(round_to_multiple(one, quantum, Rounding::rtz(), 0).inexact);
    const bool up = quantum <= 32;  // F = 2^(32 - quantum), or 0
    EXPECT_EQ(round_to_multiple(one, quantum, Rounding::sr(32), 0xFFFFFFFFU).count, up ? 1U : 0U);
  }
  EXPECT_EQ(round_to_multiple(Exact::integer(false, 3, 0), 2, Rounding::rne(), 0).count, 1U);
  EXPECT_EQ(round_to_multiple(one, -63, Rounding::rne(), 0).count, std::uint64_t{1} << 63);
  EXPECT_EQ(round_to_multiple(one, -64, Rounding::rne(), 0).count, ~std::uint64_t{0});  // saturated
}

}  // namespace
}  // namespace mantissa

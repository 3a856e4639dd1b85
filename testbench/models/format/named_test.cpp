// The typed formats: what a compiler can evaluate, and what generic code asks of numeric_limits.
#include "models/format/named.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "testbench/support/mpfr_oracle.hpp"

namespace mantissa {
namespace {

template <typename T>
class Named : public testing::Test {};
using NamedTypes =
    testing::Types<E5m2, E4m3, E3m2, E2m3, E2m1, Fp16, Bf16, Float<Format{3, 0, 3, Specials::ieee}>>;
TYPED_TEST_SUITE(Named, NamedTypes);

TYPED_TEST(Named, EveryCodeIsAnFp32Value) {
  constexpr Format format = TypeParam::format;
  for (std::uint32_t code = 0; code <= format.code_mask(); ++code) {
    const TypeParam number = TypeParam::from_code(code);
    ASSERT_EQ(number.code(), code);
    const test::Real expected = test::oracle::value(code, format);
    const float value = number.to_float();
    ASSERT_EQ(std::isnan(value), expected.is_nan()) << code;
    if (expected.is_nan()) continue;
    ASSERT_TRUE(test::Real(static_cast<double>(value)) == expected) << code;
    ASSERT_EQ(std::signbit(value), expected.is_negative()) << code;
    ASSERT_EQ(TypeParam::from_float(value), number) << code;
  }
}

TYPED_TEST(Named, NumericLimits) {
  constexpr Format format = TypeParam::format;
  using Limits = std::numeric_limits<TypeParam>;
  static_assert(Limits::is_specialized && Limits::is_signed && Limits::radix == 2);
  static_assert(Limits::digits == format.mantissa_bits + 1);
  // Of all numbers: the largest, the most negative, the smallest positive, the smallest positive normal.
  float largest = 0;
  float smallest = INFINITY;
  for (std::uint32_t code = 0; code < format.sign_bit(); ++code) {
    const float value = TypeParam::from_code(code).to_float();
    if (!std::isfinite(value)) continue;
    largest = std::max(largest, value);
    if (value > 0) smallest = std::min(smallest, value);
  }
  EXPECT_EQ(Limits::max().to_float(), largest);
  EXPECT_EQ(Limits::lowest().to_float(), -largest);
  EXPECT_EQ(Limits::denorm_min().to_float(), smallest);
  EXPECT_EQ(Limits::min().to_float(), std::ldexp(1.0F, Limits::min_exponent - 1));
  EXPECT_EQ(Limits::min().to_float(), std::ldexp(1.0F, 1 - format.bias));
  EXPECT_EQ(Limits::max_exponent - 1, std::ilogb(largest));
  if constexpr (Limits::has_infinity) {
    EXPECT_EQ(Limits::infinity().to_float(), INFINITY);
  }
  if constexpr (Limits::has_quiet_NaN) {
    EXPECT_TRUE(std::isnan(Limits::quiet_NaN().to_float()));
  }
}

TEST(NamedConstants, AreEvaluatedAtCompileTime) {
  static_assert(E5m2::from_float(1.125F).code() == 0x3C);
  static_assert(E5m2::from_float(1e9F).code() == 0x7C);
  static_assert(E5m2::from_float(1e9F, Rounding::rne(), Overflow::saturate).code() == 0x7B);
  static_assert(E4m3::from_float(464.0F).code() == 0x7E);  // ties to 448
  static_assert(E4m3::from_float(465.0F).code() == 0x7F);
  static_assert(E4m3::from_float(1.0625F, Rounding::sr(1), Overflow::ieee, 1).code() == 0x39);
  static_assert(E2m1::from_code(0xF).to_float() == -6.0F);
  static_assert(sizeof(E5m2) == 1 && sizeof(Fp16) == 2);
  static_assert(!std::numeric_limits<E4m3>::has_infinity && !std::numeric_limits<E2m1>::has_quiet_NaN);
  static_assert(E5m2() == E5m2::from_code(0) && !(E5m2() == E5m2::from_code(0x80)));
}

}  // namespace
}  // namespace mantissa

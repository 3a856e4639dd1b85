// fp8_mul: every pair against the hardware's product and MPFR's flags; which pairs are refused.
#include "models/mac/fp8_mul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "testbench/support/mpfr_oracle.hpp"

namespace mantissa {
namespace {

TEST(Fp8Mul, EveryPair) {
  const std::pair<const char*, const char*> operands[] = {{"e5m2", "e5m2"},      {"e4m3", "e4m3"},
                                                          {"e5m2", "e4m3"},      {"e4m3", "e5m2"},
                                                          {"e2m1", "e4m3:fnuz"}, {"e3m0", "e3m2"}};
  for (const auto& [a_name, b_name] : operands) {
    const Format a_format = Format::parse(a_name);
    const Format b_format = Format::parse(b_name);
    check_exact_product(a_format, b_format);
    for (std::uint32_t a = 0; a <= a_format.code_mask(); ++a) {
      for (std::uint32_t b = 0; b <= b_format.code_mask(); ++b) {
        const Rounded actual = fp8_mul(a, a_format, b, b_format);
        const auto x = static_cast<float>(to_double(a, a_format));
        const auto y = static_cast<float>(to_double(b, b_format));
        const float product = x * y;
        ASSERT_EQ(actual.code, std::isnan(product) ? 0x7FC00000U : fp32_bits(product)) << a << " " << b;
        ASSERT_EQ(actual, test::oracle::mul({a, a_format}, {b, b_format}, {})) << a << " " << b;
        ASSERT_FALSE(actual.flags.inexact) << a << " " << b;
      }
    }
  }
}

TEST(Fp8Mul, ProductBits) {
  EXPECT_EQ(product_bits(formats::e5m2, formats::e5m2), 6);
  EXPECT_EQ(product_bits(formats::e4m3, formats::e4m3), 8);
  EXPECT_EQ(product_bits(formats::e5m2, formats::e4m3), 7);
}

std::string refusal(const char* a, const char* b) {
  try {
    check_exact_product(Format::parse(a), Format::parse(b));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Fp8Mul, RefusesPairsThatFp32CannotHold) {
  EXPECT_EQ(refusal("e4m3:bias=11", "e5m2:fnuz"), "");
  EXPECT_NE(refusal("fp16", "e5m2").find("at most 8"), std::string::npos);
  EXPECT_NE(refusal("e5m2", "bf16").find("at most 8"), std::string::npos);
  EXPECT_NE(refusal("e4m3:bias=150", "e4m3").find("not all exact"), std::string::npos);
  EXPECT_NE(refusal("e4m3:bias=-115", "e4m3").find("not all exact"), std::string::npos);
  // The limits: quanta of 2^-9 and 2^-140 give 2^-149, one less does not fit.
  EXPECT_EQ(refusal("e4m3", "e4m3:bias=138"), "");
  EXPECT_NE(refusal("e4m3", "e4m3:bias=139"), "");
  // 448 = 1.75 * 2^8: 1.75^2 * 2^(8 + 118) is below 2^128, twice that is not.
  EXPECT_EQ(refusal("e4m3", "e4m3:bias=-103"), "");
  EXPECT_NE(refusal("e4m3", "e4m3:bias=-104"), "");
}

}  // namespace
}  // namespace mantissa

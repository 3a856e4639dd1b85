// Scalar add, mul, fma, div: FP32 against the hardware, flags and every other format against MPFR.
#include "models/mac/arithmetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/format/convert.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

namespace oracle = test::oracle;
using test::Random;

std::uint32_t canonical(float value) { return std::isnan(value) ? 0x7FC00000U : fp32_bits(value); }
Code fp32(std::uint32_t bits) { return {bits, formats::fp32}; }
int exponent_of(std::uint32_t bits) { return static_cast<int>((bits >> 23) & 255) - 127; }

// b near a, c near a*b, or either anywhere.
struct Operands {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;
};
Operands random_operands(Random& random) {
  const std::uint32_t a = test::random_code(formats::fp32, random);
  const bool near = random() % 2 == 0;
  const std::uint32_t b = near ? test::code_near(formats::fp32, exponent_of(a), 27, random)
                               : test::random_code(formats::fp32, random);
  const std::uint32_t c = random() % 4 == 0
                              ? test::random_code(formats::fp32, random)
                              : test::code_near(formats::fp32, exponent_of(a) + exponent_of(b), 50, random);
  return {a, b, c};
}

void expect_equals_hardware(const Operands& o) {
  const float a = fp32_value(o.a);
  const float b = fp32_value(o.b);
  const float c = fp32_value(o.c);
  ASSERT_EQ(fp32_add(o.a, o.b).code, canonical(a + b)) << std::hex << o.a << " + " << o.b;
  ASSERT_EQ(fp32_mul(o.a, o.b).code, canonical(a * b)) << std::hex << o.a << " * " << o.b;
  ASSERT_EQ(fp32_div(o.a, o.b).code, canonical(a / b)) << std::hex << o.a << " / " << o.b;
  ASSERT_EQ(fp32_fma(o.a, o.b, o.c).code, canonical(std::fma(a, b, c)))
      << std::hex << o.a << " * " << o.b << " + " << o.c;
}

// The operations on values against MPFR.
void expect_values_equal_mpfr(const Operands& o) {
  const float a = fp32_value(o.a);
  const float b = fp32_value(o.b);
  const float c = fp32_value(o.c);
  const std::uint32_t negative_b = o.b ^ formats::fp32.sign_bit();
  ASSERT_EQ(fp32_bits(f32::add(a, b)), oracle::add(fp32(o.a), fp32(o.b), {}).code);
  ASSERT_EQ(fp32_bits(f32::sub(a, b)), oracle::add(fp32(o.a), fp32(negative_b), {}).code);
  ASSERT_EQ(fp32_bits(f32::mul(a, b)), oracle::mul(fp32(o.a), fp32(o.b), {}).code);
  ASSERT_EQ(fp32_bits(f32::div(a, b)), oracle::div(fp32(o.a), fp32(o.b), {}).code);
  ASSERT_EQ(fp32_bits(f32::fma(a, b, c)), oracle::fma(fp32(o.a), fp32(o.b), fp32(o.c), {}).code)
      << std::hex << o.a << " " << o.b << " " << o.c;
}

void expect_equals_mpfr(const Operands& o) {
  ASSERT_EQ(fp32_add(o.a, o.b), oracle::add(fp32(o.a), fp32(o.b), {})) << std::hex << o.a << " + " << o.b;
  ASSERT_EQ(fp32_mul(o.a, o.b), oracle::mul(fp32(o.a), fp32(o.b), {})) << std::hex << o.a << " * " << o.b;
  ASSERT_EQ(fp32_div(o.a, o.b), oracle::div(fp32(o.a), fp32(o.b), {})) << std::hex << o.a << " / " << o.b;
  ASSERT_EQ(fp32_fma(o.a, o.b, o.c), oracle::fma(fp32(o.a), fp32(o.b), fp32(o.c), {}))
      << std::hex << o.a << " * " << o.b << " + " << o.c;
}

TEST(Fp32, RandomOperandsEqualHardware) {
  Random random(1);
  for (int i = 0; i < 3'000'000; ++i) {
    expect_equals_hardware(random_operands(random));
    if (HasFatalFailure()) return;
  }
}

TEST(Fp32, RandomOperandsEqualMpfrWithFlags) {
  Random random(2);
  for (int i = 0; i < 300'000; ++i) {
    const Operands operands = random_operands(random);
    expect_equals_mpfr(operands);
    expect_values_equal_mpfr(operands);
    if (HasFatalFailure()) return;
  }
}

std::vector<std::uint32_t> corners() {
  std::vector<std::uint32_t> codes;
  for (const std::uint32_t magnitude :
       {0x00000000U, 0x00000001U, 0x00000003U, 0x00400000U, 0x007FFFFFU, 0x00800000U, 0x00800001U,
        0x00FFFFFFU, 0x1F800000U, 0x20000000U, 0x33800000U, 0x34000000U, 0x3F000000U, 0x3F7FFFFFU,
        0x3F800000U, 0x3F800001U, 0x3FFFFFFFU, 0x40000000U, 0x40400000U, 0x4B7FFFFFU, 0x5F000000U,
        0x7E800000U, 0x7F000000U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FC00000U}) {
    codes.push_back(magnitude);
    codes.push_back(magnitude | 0x80000000U);
  }
  return codes;
}

TEST(Fp32, CornersAgainstCorners) {
  const std::vector<std::uint32_t> codes = corners();
  for (const std::uint32_t a : codes) {
    for (const std::uint32_t b : codes) {
      for (const std::uint32_t c : codes) {
        expect_equals_hardware({a, b, c});
        if (HasFatalFailure()) return;
      }
      expect_equals_mpfr({a, b, codes[(a ^ b) % codes.size()]});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Fp32, AllExponentPairsOfSpecialMantissas) {
  // Every pair of exponents once, with the mantissas' ends: sums at every alignment, products and quotients
  // at every tiny and huge place.
  Random random(3);
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::uint32_t j = 0; j < 256; ++j) {
      const std::uint64_t bits = random();
      const std::uint32_t a = (i << 23) | test::random_mantissa(formats::fp32, random);
      const std::uint32_t b = (j << 23) | test::random_mantissa(formats::fp32, random);
      expect_equals_mpfr(
          {a | static_cast<std::uint32_t>(bits & 0x80000000U), b, static_cast<std::uint32_t>(bits >> 32)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Fp32, DivisionFlags) {
  EXPECT_EQ(fp32_div(0x3F800000, 0x80000000), (Rounded{0xFF800000, {.divide_by_zero = true}}));
  EXPECT_EQ(fp32_div(0, 0), (Rounded{0x7FC00000, {.invalid = true}}));
  EXPECT_EQ(fp32_div(0x7F800000, 0), (Rounded{0x7F800000, {}}));
  EXPECT_EQ(fp32_div(0x7F800000, 0xFF800000), (Rounded{0x7FC00000, {.invalid = true}}));
  EXPECT_EQ(fp32_div(0x7FC00000, 0), (Rounded{0x7FC00000, {}}));
}

// Mixed operand formats, any result format, every option.
TEST(Arithmetic, AnyFormatsEqualMpfr) {
  Random random(4);
  std::vector<Format> formats;
  for (const char* name :
       {"e5m2", "e4m3", "e2m1", "fp16", "bf16", "fp32", "e4m3:fnuz", "e6m9", "e3m0", "e8m3"})
    formats.push_back(Format::parse(name));
  const Rounding modes[] = {Rounding::rne(), Rounding::rna(), Rounding::rnz(),
                            Rounding::rtz(), Rounding::sr(5), Rounding::sr(32)};
  for (int i = 0; i < 300'000; ++i) {
    const auto pick = [&] { return formats[random() % formats.size()]; };
    const Format a_format = pick();
    const Format b_format = pick();
    const Format c_format = pick();
    const Code a{test::random_code(a_format, random), a_format};
    const Code b{test::random_code(b_format, random), b_format};
    const Code c{test::random_code(c_format, random), c_format};
    const ResultSpec spec{.format = pick(),
                          .rounding = modes[i % std::size(modes)],
                          .overflow = random() % 2 == 0 ? Overflow::ieee : Overflow::saturate,
                          .flush = {random() % 4 == 0, random() % 4 == 0}};
    const auto draw = static_cast<std::uint32_t>(random());
    const std::string what = a_format.name() + " " + b_format.name() + " " + c_format.name() + " -> " +
                             spec.format.name() + " " + spec.rounding.name();
    ASSERT_EQ(add(a, b, spec, draw), oracle::add(a, b, spec, draw))
        << what << std::hex << a.bits << " " << b.bits;
    ASSERT_EQ(mul(a, b, spec, draw), oracle::mul(a, b, spec, draw))
        << what << std::hex << a.bits << " " << b.bits;
    ASSERT_EQ(div(a, b, spec, draw), oracle::div(a, b, spec, draw))
        << what << std::hex << a.bits << " " << b.bits;
    ASSERT_EQ(fma(a, b, c, spec, draw), oracle::fma(a, b, c, spec, draw))
        << what << std::hex << a.bits << " " << b.bits << " " << c.bits;
  }
}

}  // namespace
}  // namespace mantissa

// Conversions: the independent reference program's cases, MPFR with every option, the FP16 detour, counts.
#include "models/format/convert.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "testbench/support/arith_cases.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

Flags flags_of(const nlohmann::json& names) {
  Flags flags;
  for (const std::string name : names) {
    if (name == "invalid") flags.invalid = true;
    if (name == "divide_by_zero") flags.divide_by_zero = true;
    if (name == "overflow") flags.overflow = true;
    if (name == "underflow") flags.underflow = true;
    if (name == "inexact") flags.inexact = true;
  }
  return flags;
}

TEST(Convert, EqualsReferenceProgram) {
  ASSERT_EQ(test::arith_cases("convert").size(), 400U);
  for (const auto& one : test::arith_cases("convert")) {
    const Conversion how{.to = Format::parse(one["format"].get<std::string>()),
                         .rounding = Rounding::parse(one["round"].get<std::string>()),
                         .overflow = parse_overflow(one["overflow"].get<std::string>()),
                         .scale = one["scale"]};
    const Rounded expected{test::hex32(one["code"]), flags_of(one["flags"])};
    EXPECT_EQ(convert(test::hex32(one["x"]), how, test::hex32(one["R"])), expected) << one;
    EXPECT_EQ(test::oracle::convert(test::hex32(one["x"]), how, test::hex32(one["R"])), expected) << one;
  }
}

// Any format to any other, with scale, detour and flush options, against MPFR with all five flags.
TEST(Convert, EqualsMpfrInEveryOption) {
  test::Random random(5);
  std::vector<Format> formats;
  for (const char* name : {"e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "fp16", "bf16", "fp32", "e4m3:ieee",
                           "e4m3:fnuz", "e5m2:fnuz", "e4m3:bias=11", "e3m0", "e6m9"})
    formats.push_back(Format::parse(name));
  const Rounding modes[] = {Rounding::rne(), Rounding::rna(), Rounding::rnz(),
                            Rounding::rtz(), Rounding::sr(3), Rounding::sr(16)};
  for (const Format& from : formats) {
    for (const Format& to : formats) {
      for (int i = 0; i < 4000; ++i) {
        Conversion how{.from = from, .to = to, .rounding = modes[i % std::size(modes)]};
        how.overflow = random() % 2 == 0 ? Overflow::ieee : Overflow::saturate;
        how.flush = {random() % 4 == 0, random() % 4 == 0};
        how.via_fp16 = random() % 4 == 0;
        if (random() % 2 == 0) how.scale = static_cast<int>(random() % 256) - 128;
        // Half of the inputs lie where the target's numbers are.
        const int middle = (to.min_exponent() + to.max_exponent()) / 2 - how.scale;
        const int spread = (to.max_exponent() - to.min_exponent()) / 2 + 4;
        const std::uint32_t code =
            i % 2 == 0 ? test::random_code(from, random) : test::code_near(from, middle, spread, random);
        const auto draw = static_cast<std::uint32_t>(random());
        ASSERT_EQ(convert(code, how, draw), test::oracle::convert(code, how, draw))
            << std::hex << code << " from " << from.name() << " to " << to.name() << " "
            << how.rounding.name() << " draw " << draw << " scale " << std::dec << how.scale << " via "
            << how.via_fp16 << " flush " << how.flush.input << how.flush.output;
      }
    }
  }
}

TEST(Convert, DetourOverFp16RoundsTwice) {
  const Conversion direct{.to = formats::e5m2};
  const Conversion detour{.to = formats::e5m2, .via_fp16 = true};
  EXPECT_EQ(convert(0x3F900001, direct).code, 0x3DU);
  EXPECT_EQ(convert(0x3F900001, detour).code, 0x3CU);
  EXPECT_EQ(convert(0x3F900001, detour).flags, (Flags{.inexact = true}));
  // Inputs within half an FP16 unit (2^12 mantissas) of an E5M2 tie become that tie first, and it goes to the
  // even side: of every E5M2 step (2^21 mantissas) 2^12 inputs go the other way, 0.195 %.
  int differ = 0;
  for (std::uint32_t mantissa = 0; mantissa < 1U << 23; ++mantissa) {
    const std::uint32_t bits = 0x3F800000U | mantissa;
    differ += convert(bits, direct).code != convert(bits, detour).code ? 1 : 0;
  }
  EXPECT_EQ(differ, 4 << 12);
}

TEST(Convert, DetourKeepsFlagsOfBothSteps) {
  const Conversion saturate{.to = formats::e5m2, .overflow = Overflow::saturate, .via_fp16 = true};
  EXPECT_EQ(convert(fp32_bits(1e9F), saturate), (Rounded{0x7B, {.overflow = true, .inexact = true}}));
  const Conversion plain{.to = formats::e5m2, .via_fp16 = true};
  EXPECT_EQ(convert(fp32_bits(1e9F), plain), (Rounded{0x7C, {.overflow = true, .inexact = true}}));
  EXPECT_EQ(convert(0x7F800001, plain), (Rounded{0x7E, {.invalid = true}}));
  EXPECT_EQ(convert(fp32_bits(0x1p-30F), plain), (Rounded{0x00, {.underflow = true, .inexact = true}}));
}

TEST(Convert, FlushOptions) {
  const std::uint32_t subnormal = fp32_bits(-0x1.8p-16F);  // between two subnormals of E5M2
  const Conversion output{.to = formats::e5m2, .flush = {.output = true}};
  EXPECT_EQ(convert(subnormal, output), (Rounded{0x80, {.underflow = true, .inexact = true}}));
  EXPECT_EQ(convert(fp32_bits(0x1p-16F), output), (Rounded{0x00, {.underflow = true, .inexact = true}}));
  EXPECT_EQ(convert(fp32_bits(0x1p-14F), output), (Rounded{0x04, {}}));
  // Rounds up to the smallest normal number: nothing left to flush.
  EXPECT_EQ(convert(fp32_bits(0x1.FFFFFEp-15F), output), (Rounded{0x04, {.inexact = true}}));
  const Conversion input{.from = formats::e5m2, .to = formats::fp32, .flush = {.input = true}};
  EXPECT_EQ(convert(0x83, input), (Rounded{0x80000000, {}}));
  EXPECT_EQ(convert(0x03, input), (Rounded{0, {}}));
  EXPECT_EQ(convert(0x04, input), (Rounded{fp32_bits(0x1p-14F), {}}));
  EXPECT_EQ(convert(0x7C, input), (Rounded{0x7F800000, {}}));
  EXPECT_EQ(convert(0xFD, input), (Rounded{0x7FC00000, {.invalid = true}}));
  // A format without -0 flushes to +0, not to its NaN.
  const Format fnuz = Format::parse("e4m3:fnuz");
  EXPECT_EQ(flush_subnormal(0x81, fnuz), 0x00U);
  EXPECT_EQ(flush_subnormal(0x80, fnuz), 0x80U);
}

TEST(Convert, TininessIsSeenAfterRounding) {
  // The smallest normal E5M2 number is 2^-14; half a unit of the binade below it is 2^-18.
  const Conversion how{.to = formats::e5m2};
  EXPECT_EQ(convert(fp32_bits(0x1p-14F - 0x1p-18F), how), (Rounded{0x04, {.inexact = true}}));
  const float below = std::nextafter(0x1p-14F - 0x1p-18F, 0.0F);
  EXPECT_EQ(convert(fp32_bits(below), how), (Rounded{0x04, {.underflow = true, .inexact = true}}));
  const Conversion truncate{.to = formats::e5m2, .rounding = Rounding::rtz()};
  EXPECT_EQ(convert(fp32_bits(0x1.FFFFFEp-15F), truncate),
            (Rounded{0x03, {.underflow = true, .inexact = true}}));
}

// The worked numbers of ARITHMETIC.md 2.
TEST(Convert, TiesGoAsTheModeSays) {
  const Rounding modes[] = {Rounding::rne(), Rounding::rna(), Rounding::rnz()};
  const auto expect = [&](float x, const Format& to, const std::array<Rounded, 3>& results) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(convert(fp32_bits(x), {.to = to, .rounding = modes[i]}), results[i])
          << x << " " << modes[i].name();
    }
  };
  const Flags inexact{.inexact = true};
  const Flags over{.overflow = true, .inexact = true};
  const Flags under{.underflow = true, .inexact = true};
  expect(1.125F, formats::e5m2, {{{0x3C, inexact}, {0x3D, inexact}, {0x3C, inexact}}});
  expect(1.375F, formats::e5m2, {{{0x3E, inexact}, {0x3E, inexact}, {0x3D, inexact}}});
  expect(-1.375F, formats::e5m2, {{{0xBE, inexact}, {0xBE, inexact}, {0xBD, inexact}}});
  expect(1.875F, formats::e5m2, {{{0x40, inexact}, {0x40, inexact}, {0x3F, inexact}}});
  expect(fp32_value(0x3F900001), formats::e5m2, {{{0x3D, inexact}, {0x3D, inexact}, {0x3D, inexact}}});
  expect(464.0F, formats::e4m3, {{{0x7E, inexact}, {0x7F, over}, {0x7E, inexact}}});
  expect(61440.0F, formats::e5m2, {{{0x7C, over}, {0x7C, over}, {0x7B, inexact}}});
  expect(0x1p-14F - 0x1p-18F, formats::e5m2, {{{0x04, inexact}, {0x04, inexact}, {0x04, under}}});
  expect(0x1p-17F, formats::e5m2, {{{0x00, under}, {0x01, under}, {0x00, under}}});
}

TEST(Convert, SpecialValuesOfPoorFormats) {
  const auto to = [](const char* name, std::uint32_t bits, Overflow overflow = Overflow::ieee) {
    return convert(bits, {.to = Format::parse(name), .overflow = overflow});
  };
  constexpr std::uint32_t inf = 0x7F800000;
  constexpr std::uint32_t minus_inf = 0xFF800000;
  constexpr std::uint32_t nan = 0xFFC12345;
  const Flags over{.overflow = true, .inexact = true};
  EXPECT_EQ(to("e5m2", minus_inf), (Rounded{0xFC, {}}));
  EXPECT_EQ(to("e5m2", minus_inf, Overflow::saturate), (Rounded{0xFB, over}));
  EXPECT_EQ(to("e4m3", minus_inf), (Rounded{0x7F, over}));  // no Inf: canonical NaN, sign 0
  EXPECT_EQ(to("e4m3", inf, Overflow::saturate), (Rounded{0x7E, over}));
  EXPECT_EQ(to("e2m1", minus_inf), (Rounded{0xF, over}));
  EXPECT_EQ(to("e4m3:fnuz", inf), (Rounded{0x80, over}));
  EXPECT_EQ(to("e5m2", nan), (Rounded{0x7E, {}}));
  EXPECT_EQ(to("e2m1", nan), (Rounded{0x7, {.invalid = true}}));
  EXPECT_EQ(to("e2m1", nan, Overflow::saturate), (Rounded{0x7, {.invalid = true}}));
  EXPECT_EQ(to("e4m3:fnuz", 0x80000000), (Rounded{0x00, {}}));
  EXPECT_EQ(to("e4m3:fnuz", fp32_bits(-1e-9F)), (Rounded{0x00, {.underflow = true, .inexact = true}}));
  EXPECT_EQ(to("e4m3", fp32_bits(464.0F)), (Rounded{0x7E, {.inexact = true}}));
  EXPECT_EQ(to("e4m3", fp32_bits(465.0F)), (Rounded{0x7F, over}));
}

TEST(ConversionCounts, OneOfEach) {
  const Conversion how{.to = formats::e2m1, .flush = {.output = true}};
  ConversionCounts counts;
  const float inputs[] = {0.0F, -0.0F, 1.0F, 1e-9F, -0.5F, 100.0F, NAN, 1.1F};
  for (const float value : inputs) count(counts, fp32_bits(value), convert(fp32_bits(value), how), how);
  EXPECT_EQ(counts.elements, 8U);
  EXPECT_EQ(counts.overflow, 1U);         // 100
  EXPECT_EQ(counts.underflow, 2U);        // 1e-9, and -0.5, a subnormal result that is flushed
  EXPECT_EQ(counts.inexact, 4U);          // those three and 1.1
  EXPECT_EQ(counts.invalid, 1U);          // NaN
  EXPECT_EQ(counts.flushed_to_zero, 2U);  // 1e-9 and -0.5, but not the zeros
  ConversionCounts twice = counts;
  twice += counts;
  EXPECT_EQ(twice, (ConversionCounts{16, 2, 4, 8, 2, 4}));
  EXPECT_NE(twice, counts);
}

}  // namespace
}  // namespace mantissa

// The float tensor quantizer against an independent reference program, and its draws, scale and way back.
#include "models/quantize/quantizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

using test::arith_cases;
using test::hex32;

// The quantizer takes its random numbers from LFSR lanes only, so a case's R is looked for among run seeds.
DrawSource source_of_first_draw(std::uint32_t r, int random_bits) {
  const std::uint32_t mask = Rounding::sr(random_bits).random_mask();
  DrawSource source{.lanes = 1};
  while ((source.lane(0).draw() & mask) != r) ++source.run_seed;
  return source;
}

Flags flags_of(const nlohmann::json& names) {
  Flags flags;
  for (const auto& name : names) {
    if (name == "invalid") flags.invalid = true;
    if (name == "overflow") flags.overflow = true;
    if (name == "underflow") flags.underflow = true;
    if (name == "inexact") flags.inexact = true;
  }
  return flags;
}

TEST(Quantizer, EqualsReferenceProgram) {
  ASSERT_EQ(arith_cases("convert").size(), 400U);
  for (const auto& one : arith_cases("convert")) {
    const Conversion how{.to = Format::parse(one["format"].get<std::string>()),
                         .rounding = Rounding::parse(one["round"].get<std::string>()),
                         .overflow = parse_overflow(one["overflow"].get<std::string>()),
                         .scale = one["scale"]};
    const DrawSource draws = how.rounding.stochastic()
                                 ? source_of_first_draw(hex32(one["R"]), how.rounding.random_bits)
                                 : DrawSource{};
    const std::vector<float> x = {fp32_value(hex32(one["x"]))};
    std::vector<std::uint32_t> code(1);
    const ConversionCounts counts = quantize<std::uint32_t>(x, how, draws, code);
    ASSERT_EQ(code[0], hex32(one["code"])) << one;
    const Flags flags = flags_of(one["flags"]);
    ASSERT_EQ(counts.elements, 1U) << one;
    ASSERT_EQ(counts.invalid, flags.invalid ? 1U : 0U) << one;
    ASSERT_EQ(counts.overflow, flags.overflow ? 1U : 0U) << one;
    ASSERT_EQ(counts.underflow, flags.underflow ? 1U : 0U) << one;
    ASSERT_EQ(counts.inexact, flags.inexact ? 1U : 0U) << one;
  }
}

std::vector<float> normal_values(std::size_t count) {
  std::mt19937_64 engine(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

TEST(Quantizer, ElementTakesItsOwnDrawOfItsOwnLane) {
  const std::vector<float> x = normal_values(101);
  const Conversion how{.to = formats::e4m3, .rounding = Rounding::sr(8), .scale = 2};
  const DrawSource source{.run_seed = 5, .stream = 77, .lanes = 7, .leap = 16};
  std::vector<std::uint8_t> codes(x.size());
  quantize<std::uint8_t>(x, how, source, codes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t draw = source.lane(i % 7, i / 7).draw();
    ASSERT_EQ(codes[i], convert(fp32_bits(x[i]), how, draw).code) << i;
  }
}

TEST(Quantizer, CodeWidthDoesNotChangeBits) {
  const std::vector<float> x = normal_values(200);
  const Conversion how{.to = formats::e5m2, .rounding = Rounding::sr(16), .overflow = Overflow::saturate};
  const DrawSource source{.run_seed = 9};
  std::vector<std::uint8_t> narrow(x.size());
  std::vector<std::uint16_t> middle(x.size());
  std::vector<std::uint32_t> wide(x.size());
  const ConversionCounts counts = quantize<std::uint8_t>(x, how, source, narrow);
  EXPECT_EQ((quantize<std::uint16_t>(x, how, source, middle)), counts);
  EXPECT_EQ((quantize<std::uint32_t>(x, how, source, wide)), counts);
  EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), wide.begin()));
  EXPECT_TRUE(std::equal(middle.begin(), middle.end(), wide.begin()));
}

TEST(Quantizer, CountsWhatItMet) {
  // In E4M3, saturating: exact, zero, tie to even, overflow, Inf, to zero, to the smallest subnormal, NaN.
  const std::vector<float> x = {1.0F, -0.0F, 1.0625F, 1000.0F, -INFINITY, 0x1p-12F, 0x1.8p-10F, NAN};
  std::vector<std::uint8_t> codes(x.size());
  const ConversionCounts counts =
      quantize<std::uint8_t>(x, {.to = formats::e4m3, .overflow = Overflow::saturate}, {}, codes);
  EXPECT_EQ(codes, (std::vector<std::uint8_t>{0x38, 0x80, 0x38, 0x7E, 0xFE, 0x00, 0x01, 0x7F}));
  EXPECT_EQ(
      counts,
      (ConversionCounts{
          .elements = 8, .overflow = 2, .underflow = 2, .inexact = 5, .invalid = 0, .flushed_to_zero = 1}));
}

TEST(Quantizer, DequantizeIsTheCodeTimesTheInverseScale) {
  for (const Format& format : {formats::e5m2, formats::e4m3, formats::e3m2}) {
    for (const int scale : {-128, -127, -3, 0, 5, 127}) {
      const Conversion how{.to = format, .scale = scale};
      std::vector<std::uint8_t> codes(1U << format.bits());
      for (std::size_t code = 0; code < codes.size(); ++code) codes[code] = static_cast<std::uint8_t>(code);
      std::vector<float> values(codes.size());
      dequantize<std::uint8_t>(codes, how, values);
      for (std::size_t code = 0; code < codes.size(); ++code) {
        const double exact = std::ldexp(to_double(codes[code], format), -scale);
        if (std::isnan(exact)) {
          ASSERT_EQ(fp32_bits(values[code]), formats::fp32.nan_code());
        } else {
          ASSERT_EQ(fp32_bits(values[code]), fp32_bits(static_cast<float>(exact)))
              << format.name() << " " << scale << " " << code;
        }
      }
    }
  }
}

TEST(Quantizer, EveryNumberComesBackFromDequantize) {
  const Conversion how{.to = formats::e5m2, .scale = 20};
  std::vector<std::uint8_t> codes;
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (!formats::e5m2.is_nan(code)) codes.push_back(static_cast<std::uint8_t>(code));
  }
  std::vector<float> values(codes.size());
  dequantize<std::uint8_t>(codes, how, values);
  std::vector<std::uint8_t> again(codes.size());
  EXPECT_EQ((quantize<std::uint8_t>(values, how, {}, again)), ConversionCounts{.elements = codes.size()});
  EXPECT_EQ(again, codes);
}

TEST(Quantizer, RefusesWhatItCannotDo) {
  const std::vector<float> x(4);
  std::vector<std::uint8_t> codes(4);
  std::vector<std::uint8_t> few(3);
  const auto run = [&](const Conversion& how, std::span<std::uint8_t> out, const DrawSource& draws = {}) {
    return quantize<std::uint8_t>(x, how, draws, out);
  };
  EXPECT_NO_THROW(run({.to = formats::e5m2, .scale = -128}, codes));
  EXPECT_NO_THROW(run({.to = formats::e5m2, .scale = 127}, codes));
  EXPECT_THROW(run({.to = formats::e5m2, .scale = 128}, codes), std::invalid_argument);
  EXPECT_THROW(run({.to = formats::e5m2, .scale = -129}, codes), std::invalid_argument);
  EXPECT_THROW(run({.to = formats::fp16}, codes), std::invalid_argument);
  EXPECT_THROW(run({.from = formats::fp16, .to = formats::e5m2}, codes), std::invalid_argument);
  EXPECT_THROW(run({.to = formats::e5m2}, few), std::invalid_argument);
  EXPECT_THROW(run({.to = formats::e5m2, .rounding = Rounding::sr(0)}, codes), std::invalid_argument);
  EXPECT_THROW(run({.to = formats::e5m2, .rounding = Rounding::sr(17)}, codes, {.leap = 16}),
               std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

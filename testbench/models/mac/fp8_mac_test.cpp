// fp8_mac against MPFR (code and flags) and the hardware's FMA (ARITHMETIC.md 4).
#include "models/mac/fp8_mac.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"
#include "testbench/support/parallel.hpp"

namespace mantissa {

void PrintTo(const MacConfig& config, std::ostream* out) {
  *out << config.a.name() << " x " << config.b.name();
}

namespace {

namespace oracle = test::oracle;

std::string mismatch(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                     std::uint32_t draw, const Rounded& actual, const Rounded& expected) {
  std::ostringstream text;
  text << config.a.name() << " " << std::hex << a << " * " << config.b.name() << " " << b << " + "
       << config.acc.name() << " " << acc << " " << config.rounding.name() << " draw " << draw << " gives "
       << actual.code << " " << actual.flags.letters() << ", expected " << expected.code << " "
       << expected.flags.letters();
  return text.str();
}

// FP32 accumulators that make trouble for one product: exact cancellation and its neighbours; every alignment
// at which the product meets the accumulator's last bits, with even and odd, low and full mantissas, so that
// the sum ties, carries or cancels; sums that land at powers of two; both ends of the format.
std::vector<std::uint32_t> accumulators(double product) {
  std::vector<std::uint32_t> codes = {0x00000000, 0x00000001, 0x00000002, 0x007FFFFE, 0x007FFFFF, 0x00800000,
                                      0x00800001, 0x00FFFFFF, 0x01000000, 0x3F800000, 0x7F000000, 0x7F7FFFFE,
                                      0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FA00000, 0x7FC00000, 0x7FFFFFFF};
  const bool usable = std::isfinite(product) && product != 0;
  const float value = usable ? static_cast<float>(product) : 1.0F;
  const std::uint32_t bits = fp32_bits(std::fabs(value));
  const int exponent = std::ilogb(value);
  for (std::uint32_t i = 0; i <= 8; ++i) {
    codes.push_back(bits + i);
    codes.push_back(bits - i);
  }
  for (int distance = -26; distance <= 40; ++distance) {
    const auto field = static_cast<std::uint32_t>(exponent + distance + 127);
    for (const std::uint32_t mantissa :
         {0U, 1U, 2U, 0x3FFFFFU, 0x400000U, 0x400001U, 0x7FFFFEU, 0x7FFFFFU, bits & 0x7FFFFF})
      codes.push_back((field << 23) | mantissa);
  }
  for (int distance = 0; distance <= 25; ++distance) {
    const std::uint32_t landing = fp32_bits(std::ldexp(1.0F, exponent + distance) - std::fabs(value));
    for (std::uint32_t i = 0; i <= 2; ++i) codes.push_back(landing - 1 + i);
  }
  for (std::size_t i = codes.size(); i-- > 0;) codes.push_back(codes[i] ^ 0x80000000U);
  return codes;
}

// All pairs first, first + stride, ...; of each pair's accumulators every `skip`th, starting at another one
// for each pair. Returns a description of the first mismatch.
std::string sweep_pairs(const MacConfig& config, std::uint32_t first, std::uint32_t stride,
                        std::size_t skip) {
  for (std::uint32_t pair = first; pair < 0x10000; pair += stride) {
    const std::uint32_t a = pair >> 8;
    const std::uint32_t b = pair & 255;
    const oracle::Product product = oracle::product({a, config.a}, {b, config.b});
    const std::vector<std::uint32_t> list = accumulators(product.value.to_double());
    for (std::size_t i = pair % skip; i < list.size(); i += skip) {
      const Rounded actual = fp8_mac(a, b, list[i], config);
      const Rounded expected =
          oracle::accumulate(product, {list[i], config.acc}, {config.acc, config.rounding});
      if (actual != expected) return mismatch(a, b, list[i], config, 0, actual, expected);
    }
  }
  return "";
}

class Fp8MacPairs : public testing::TestWithParam<MacConfig> {};
using LongFp8MacPairs = Fp8MacPairs;

TEST_P(Fp8MacPairs, EveryPairWithSomeAccumulators) { EXPECT_EQ(sweep_pairs(GetParam(), 0, 1, 131), ""); }
TEST_P(Fp8MacPairs, SomePairsWithEveryAccumulator) { EXPECT_EQ(sweep_pairs(GetParam(), 0, 67, 1), ""); }
TEST_P(LongFp8MacPairs, EveryPairWithEveryAccumulator) {
  const auto part = [](int index) { return sweep_pairs(GetParam(), index, 2, 1); };
  EXPECT_EQ(test::first_mismatch(2, part), "");
}

TEST_P(Fp8MacPairs, HaveAThousandDifferentAccumulators) {
  for (std::uint32_t pair = 0; pair < 0x10000; pair += 67) {
    const oracle::Product product = oracle::product({pair >> 8, GetParam().a}, {pair & 255, GetParam().b});
    const std::vector<std::uint32_t> list = accumulators(product.value.to_double());
    ASSERT_GE(std::set<std::uint32_t>(list.begin(), list.end()).size(), 1000U) << pair;
  }
}

std::string pair_name(const testing::TestParamInfo<MacConfig>& info) {
  return info.param.a.name() + "_" + info.param.b.name();
}
const auto pairs =
    testing::Values(MacConfig{formats::e5m2, formats::e5m2}, MacConfig{formats::e4m3, formats::e4m3},
                    MacConfig{formats::e5m2, formats::e4m3}, MacConfig{formats::e4m3, formats::e5m2});
INSTANTIATE_TEST_SUITE_P(All, Fp8MacPairs, pairs, pair_name);
INSTANTIATE_TEST_SUITE_P(Long, LongFp8MacPairs, pairs, pair_name);

std::array<float, 256> values_of(const Format& format) {
  std::array<float, 256> values{};
  for (std::uint32_t code = 0; code < 256; ++code) values[code] = static_cast<float>(to_double(code, format));
  return values;
}

// Random operands against std::fma, which is one FMA instruction where the machine has it. Half of the
// accumulators have an exponent near the product's.
std::string compare_with_hardware(const MacConfig& config, std::uint64_t seed, std::int64_t count) {
  test::Random random(seed);
  const std::array<float, 256> a_value = values_of(config.a);
  const std::array<float, 256> b_value = values_of(config.b);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const std::uint32_t a = bits & 255;
    const std::uint32_t b = (bits >> 8) & 255;
    auto acc = static_cast<std::uint32_t>(bits >> 32);
    if ((bits & 0x10000) != 0) {
      const std::uint32_t product = fp32_bits(a_value[a] * b_value[b]) >> 23 & 255;
      const std::uint32_t offset = (bits >> 17) & 63;
      acc = (acc & 0x807FFFFF) | (((product + offset - 24) & 255) << 23);
    }
    const float expected = std::fma(a_value[a], b_value[b], fp32_value(acc));
    const Rounded want{std::isnan(expected) ? 0x7FC00000U : fp32_bits(expected), {}};
    const Rounded actual = fp8_mac(a, b, acc, config);
    if (actual.code != want.code) return mismatch(a, b, acc, config, 0, actual, want);
  }
  return "";
}

TEST(Fp8Mac, RandomOnesEqualHardware) {
  for (const Format& a : {formats::e5m2, formats::e4m3}) {
    for (const Format& b : {formats::e5m2, formats::e4m3})
      EXPECT_EQ(compare_with_hardware({a, b}, 1, 2'500'000), "");
  }
}

TEST(LongFp8Mac, HundredMillionRandomOnesEqualHardware) {
  for (const Format& a : {formats::e5m2, formats::e4m3}) {
    for (const Format& b : {formats::e5m2, formats::e4m3}) {
      const auto part = [&](int index) { return compare_with_hardware({a, b}, 100 + index, 12'500'000); };
      EXPECT_EQ(test::first_mismatch(2, part), "");
    }
  }
}

// Random operands for an accumulator of any format: near the product, near its negative, or anywhere.
std::uint32_t random_accumulator(const oracle::Product& product, const Format& format, test::Random& random) {
  const test::Real& value = product.value;
  const std::uint64_t choice = random() % 8;
  if (choice == 0 || value.is_nan() || value.is_inf() || value.is_zero())
    return test::random_code(format, random);
  if (choice <= 2) {
    const std::uint32_t near = oracle::round(value, format, Rounding::rne(), 0, Overflow::saturate).code;
    return ((near ^ format.sign_bit()) + static_cast<std::uint32_t>(random() % 5) - 2) & format.code_mask();
  }
  return test::code_near(format, value.exponent(), format.mantissa_bits + 10, random);
}

std::string compare_with_mpfr(const MacConfig& config, std::uint64_t seed, int count) {
  test::Random random(seed);
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<std::uint32_t>(random()) & config.a.code_mask();
    const auto b = static_cast<std::uint32_t>(random()) & config.b.code_mask();
    const auto draw = static_cast<std::uint32_t>(random());
    const oracle::Product product = oracle::product({a, config.a}, {b, config.b});
    const std::uint32_t acc = random_accumulator(product, config.acc, random);
    const Rounded actual = fp8_mac(a, b, acc, config, draw);
    const Rounded expected =
        oracle::accumulate(product, {acc, config.acc}, {config.acc, config.rounding}, draw);
    if (actual != expected) return mismatch(a, b, acc, config, draw, actual, expected);
  }
  return "";
}

constexpr const char* accumulator_formats[] = {"fp32",          "fp16",      "bf16", "e6m5",      "e6m9",
                                               "e5m10:bias=20", "e8m3",      "e4m3", "e5m2",      "e3m2",
                                               "e3m0",          "e4m3:fnuz", "e8m0", "e4m3:ieee", "e7m15:fn"};
constexpr const char* accumulator_roundings[] = {"rne",  "rna",  "rnz",   "rtz",  "sr:1",
                                                 "sr:4", "sr:8", "sr:13", "sr:32"};

// The modes share the 10^6 of a format in the normal run; each has its own in the long one.
void compare_accumulators(int count) {
  const std::pair<const char*, const char*> operands[] = {
      {"e5m2", "e5m2"}, {"e4m3", "e4m3"}, {"e5m2", "e4m3"}, {"e2m1", "e4m3:fnuz"}};
  const auto part = [&](int index) -> std::string {
    int turn = 0;
    for (const char* format : accumulator_formats) {
      for (const char* rounding : accumulator_roundings) {
        const auto& [a, b] = operands[turn % 4];
        if (turn++ % 2 != index) continue;
        const MacConfig config{Format::parse(a), Format::parse(b), Format::parse(format),
                               Rounding::parse(rounding)};
        std::string found = compare_with_mpfr(config, turn, count);
        if (!found.empty()) return found;
      }
    }
    return "";
  };
  EXPECT_EQ(test::first_mismatch(2, part), "");
}

TEST(Fp8Mac, EveryAccumulatorFormatEqualsMpfr) {
  compare_accumulators(1'000'000 / std::size(accumulator_roundings) + 1);
}
TEST(LongFp8Mac, EveryAccumulatorFormatAndRoundingEqualsMpfr) { compare_accumulators(1'000'000); }

TEST(Fp8Mac, SpecialValues) {
  const MacConfig config{formats::e5m2, formats::e5m2};
  constexpr std::uint32_t nan = 0x7FC00000;
  const Flags invalid{.invalid = true};
  EXPECT_EQ(fp8_mac(0x00, 0x7C, 0, config), (Rounded{nan, invalid}));           // 0 * Inf
  EXPECT_EQ(fp8_mac(0x00, 0xFC, 0xFFFFFFFF, config), (Rounded{nan, invalid}));  // even onto a quiet NaN
  EXPECT_EQ(fp8_mac(0x3C, 0x7C, 0xFF800000, config), (Rounded{nan, invalid}));  // Inf - Inf
  EXPECT_EQ(fp8_mac(0x3C, 0x7C, 0x7F800000, config), (Rounded{0x7F800000, {}}));
  EXPECT_EQ(fp8_mac(0x7E, 0x3C, 0, config), (Rounded{nan, {}}));
  EXPECT_EQ(fp8_mac(0x7D, 0x3C, 0, config), (Rounded{nan, invalid}));  // signalling
  EXPECT_EQ(fp8_mac(0x3C, 0x3C, 0x7F800001, config), (Rounded{nan, invalid}));
  EXPECT_EQ(fp8_mac(0x3C, 0x3C, fp32_bits(-1.0F), config), (Rounded{0, {}}));     // x + (-x) = +0
  EXPECT_EQ(fp8_mac(0x80, 0x3C, 0x80000000, config), (Rounded{0x80000000, {}}));  // -0 + -0
  EXPECT_EQ(fp8_mac(0x80, 0x3C, 0, config), (Rounded{0, {}}));
}

TEST(MacConfig, FrameBits) {
  EXPECT_EQ((MacConfig{formats::e5m2, formats::e5m2}.frame_bits()), 27);
  EXPECT_EQ((MacConfig{formats::e4m3, formats::e4m3}.frame_bits()), 27);
  EXPECT_EQ((MacConfig{formats::e4m3, formats::e4m3, formats::e5m2}.frame_bits()), 11);
  EXPECT_EQ((MacConfig{formats::e5m2, formats::e5m2, formats::fp16, Rounding::sr(8)}.frame_bits()), 22);
}

// Every stage's wires, read back as numbers, tell the same story.
void check_taps(const MacConfig& config, std::uint32_t a, std::uint32_t b, std::uint32_t acc,
                std::uint32_t draw) {
  MacTaps taps;
  const Rounded result = fp8_mac(a, b, acc, config, draw, &taps);
  ASSERT_EQ(result, fp8_mac(a, b, acc, config, draw));
  ASSERT_EQ(taps.rounded, result.code);
  const test::Real product = oracle::product({a, config.a}, {b, config.b}).value;
  const test::Real addend = oracle::value(acc, config.acc);
  const auto number = [](const test::Real& real) {
    return !real.is_nan() && !real.is_inf() && !real.is_zero();
  };
  const int frame = config.frame_bits();
  if (number(product)) {
    const int width = product_bits(config.a, config.b);
    ASSERT_EQ(taps.product.significand >> (width - 1), 1U);
    ASSERT_TRUE(test::Real::integer(taps.product.negative, taps.product.significand,
                                    taps.product.exponent - (width - 1)) == product);
  } else {
    ASSERT_EQ(taps.product, MacTaps::Product{});
  }
  if (!number(product) || !number(addend)) {
    ASSERT_EQ(taps.align, MacTaps::Align{});
    ASSERT_EQ(taps.sum, 0U);
    ASSERT_EQ(taps.normalised, MacTaps::Normalised{});
    return;
  }
  const bool product_larger = addend.magnitude() < product.magnitude();
  const test::Real& larger = product_larger ? product : addend;
  const test::Real& smaller = product_larger ? addend : product;
  ASSERT_EQ(taps.align.larger >> (frame - 1), 1U);
  ASSERT_TRUE(test::Real::integer(larger.is_negative(), taps.align.larger, larger.exponent() - (frame - 1)) ==
              larger);
  ASSERT_EQ(taps.align.shift, larger.exponent() - smaller.exponent());
  ASSERT_EQ(taps.align.subtract, larger.is_negative() != smaller.is_negative());
  // The smaller one in the larger's units: whole part kept, anything below it is in the sticky bit.
  const test::Real units = smaller.magnitude().scaled(frame - 1 - larger.exponent());
  const std::uint64_t kept = units.whole();
  ASSERT_EQ(taps.align.aligned, units.floor() == units ? kept : kept | 1);
  ASSERT_EQ(taps.sum, taps.align.subtract ? taps.align.larger - taps.align.aligned
                                          : taps.align.larger + taps.align.aligned);
  ASSERT_EQ(taps.sum >> (frame + 1), 0U);
  if (taps.sum == 0) return;
  ASSERT_EQ(taps.normalised.significand >> (frame - 1), 1U);
  const test::Real normalised = test::Real::integer(taps.normalised.negative, taps.normalised.significand,
                                                    taps.normalised.exponent - (frame - 1));
  const Rounded again = oracle::round(normalised, config.acc, config.rounding, draw, Overflow::ieee);
  ASSERT_EQ(again, result);
}

TEST(MacTaps, StagesRecombineToTheResult) {
  test::Random random(9);
  for (const char* format : accumulator_formats) {
    for (const char* rounding : accumulator_roundings) {
      const MacConfig config{formats::e4m3, formats::e5m2, Format::parse(format), Rounding::parse(rounding)};
      for (int i = 0; i < 3000; ++i) {
        const auto a = static_cast<std::uint32_t>(random() & 255);
        const auto b = static_cast<std::uint32_t>(random() & 255);
        const oracle::Product product = oracle::product({a, config.a}, {b, config.b});
        const std::uint32_t acc = random_accumulator(product, config.acc, random);
        SCOPED_TRACE(std::string(format) + " " + rounding);
        check_taps(config, a, b, acc, static_cast<std::uint32_t>(random()));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace mantissa

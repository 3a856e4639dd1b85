// Rounding to a format's grid against the scalar quantizer there and back, on every SIMD target.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "models/kernels/drain.hpp"
#include "models/kernels/quantize.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/norm_tensors.hpp"

namespace mantissa {
namespace {

// The whole range of a conversion and a bit beyond, ties, specials.
std::vector<float> sums_for(const Conversion& how, std::int64_t count, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<float> values(count);
  const int low = how.to.min_exponent() - how.scale - how.to.mantissa_bits - 3;
  const int high = how.to.max_exponent() - how.scale + 2;
  for (float& value : values) {
    const int exponent = low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
    value = fp32_value(test::code_near(formats::fp32, exponent, 0, random));
    if (random() % 32 == 0) value = fp32_value(static_cast<std::uint32_t>(random()));
    if (random() % 64 == 0) value = fp32_value(random() % 2 == 0 ? 0x80000000U : 0xFF800000U);
    if (random() % 64 == 0) value = fp32_value(random() % 2 == 0 ? 0x7F800001U : 0x7F800000U);
  }
  return values;
}

float back(std::uint32_t code, const Conversion& how) {
  return fp32_value(convert(code, {.from = how.to, .scale = -how.scale}).code);
}

const std::vector<Conversion>& conversions() {
  static const std::vector<Conversion> all = [] {
    std::vector<Conversion> made;
    for (const char* format : {"e5m2", "e4m3", "fp16", "e4m3:fnuz", "e3m0:finite", "e6m1", "bf16", "e2m1"}) {
      for (const char* round : {"rne", "rna", "rnz", "rtz", "sr:8", "sr:13"}) {
        for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
          for (const int scale : {0, 5, -113}) {
            made.push_back({.to = Format::parse(format),
                            .rounding = Rounding::parse(round),
                            .overflow = overflow,
                            .scale = scale});
          }
        }
      }
    }
    // Without a vector form.
    made.push_back({.to = formats::e5m2, .via_fp16 = true});
    made.push_back({.to = formats::e5m2, .rounding = Rounding::sr(16), .via_fp16 = true});
    return made;
  }();
  return all;
}

TEST(RoundValues, IsQuantizeAndDequantize) {
  std::uint64_t seed = 0;
  for (const Conversion& how : conversions()) {
    ++seed;
    const DrawSource draws{.run_seed = seed, .lanes = seed % 2 == 0 ? 16 : 5};
    const auto values = sums_for(how, 5003, seed);
    std::vector<std::uint16_t> codes(values.size());
    std::vector<float> expected(values.size());
    const ConversionCounts expected_counts = quantize<std::uint16_t>(values, how, draws, codes);
    dequantize<std::uint16_t>(codes, how, expected);
    test::on_every_target([&](const std::string& target) {
      for (const int threads : {1, 2}) {
        const std::string where = target + " " + how.to.name() + " " + how.rounding.name();
        std::vector<float> rounded = values;  // in place
        kernels::round_values(rounded, how, draws, rounded, threads);
        ASSERT_EQ(test::all_bits(rounded), test::all_bits(expected)) << where;
        ConversionCounts counts;
        kernels::round_values(values, how, draws, rounded, threads, &counts);
        ASSERT_EQ(test::all_bits(rounded), test::all_bits(expected)) << where << " with counts";
        ASSERT_EQ(counts, expected_counts) << where;
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST(RoundValues, GiveTheirCodesBack) {
  const Conversion how{.to = formats::e4m3, .rounding = Rounding::sr(8), .scale = 3};
  const auto values = sums_for(how, 3001, 1);
  std::vector<std::uint8_t> codes(values.size());
  kernels::quantize<std::uint8_t>(values, how, {}, codes);
  std::vector<float> rounded(values.size());
  kernels::round_values(values, how, {}, rounded);
  std::vector<std::uint8_t> again(values.size());
  kernels::quantize<std::uint8_t>(rounded, {.to = how.to, .scale = how.scale}, {}, again);
  EXPECT_EQ(again, codes);
}

template <class Code>
void expect_codes(std::span<const float> sums, const NormShape& shape, const Conversion& how,
                  const DrawSource& draws, const kernels::DrainTiles& tiles, int threads,
                  const std::vector<std::uint32_t>& expected) {
  std::vector<Code> codes(sums.size());
  kernels::drain<Code>(sums, shape, how, draws, tiles, codes, threads);
  EXPECT_EQ(std::vector<std::uint32_t>(codes.begin(), codes.end()), expected)
      << test::name_of(shape) << " " << 8 * sizeof(Code) << " bits " << how.rounding.name();
}

// Each output by itself, as ARITHMETIC.md 7 says it.
void expect_drain_of_each(const NormShape& shape, const Conversion& how, const DrawSource& draws,
                          const kernels::DrainTiles& tiles) {
  const auto sums = sums_for(how, shape.batch * shape.channels * shape.spatial, draws.run_seed);
  std::vector<float> expected(sums.size());
  std::vector<std::uint32_t> expected_codes(sums.size());
  ConversionCounts expected_counts;
  const std::int64_t across = (shape.channels + draws.lanes - 1) / draws.lanes;
  for (std::int64_t n = 0; n < shape.channels; ++n) {
    for (std::int64_t m = 0; m < shape.batch * shape.spatial; ++m) {
      const std::int64_t at = (m / shape.spatial * shape.channels + n) * shape.spatial + m % shape.spatial;
      const std::int64_t tile = tiles.first_tile + m / tiles.rows * across + n / draws.lanes;
      Lfsr lane = draws.lane(n % draws.lanes, tile * tiles.rows + m % tiles.rows);
      const Rounded code = convert(fp32_bits(sums[at]), how, how.rounding.stochastic() ? lane.draw() : 0);
      count(expected_counts, fp32_bits(sums[at]), code, how);
      expected[at] = back(code.code, how);
      expected_codes[at] = code.code;
    }
  }
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      const std::string where = test::name_of(shape) + " " + target + " " + how.rounding.name();
      std::vector<float> values = sums;  // in place
      ConversionCounts counts;
      kernels::drain<float>(values, shape, how, draws, tiles, values, threads, &counts);
      ASSERT_EQ(test::all_bits(values), test::all_bits(expected)) << where;
      ASSERT_EQ(counts, expected_counts) << where;
      kernels::drain<float>(sums, shape, how, draws, tiles, values, threads);
      ASSERT_EQ(test::all_bits(values), test::all_bits(expected)) << where << " without counts";
      if (how.to.bits() <= 8)
        expect_codes<std::uint8_t>(sums, shape, how, draws, tiles, threads, expected_codes);
      if (how.to.bits() <= 16)
        expect_codes<std::uint16_t>(sums, shape, how, draws, tiles, threads, expected_codes);
      expect_codes<std::uint32_t>(sums, shape, how, draws, tiles, threads, expected_codes);
    }
  });
}

TEST(Drain, TakesTheDrawsOfItsTiles) {
  std::uint64_t seed = 0;
  for (const NormShape& shape : test::norm_shapes) {
    for (const int lanes : {4, 8, 16}) {
      for (const std::int64_t rows : {1, 4, 16, 13}) {
        const Conversion how{.to = ++seed % 2 == 0 ? formats::e5m2 : formats::e4m3,
                             .rounding = Rounding::sr(8)};
        expect_drain_of_each(shape, how, {.run_seed = seed, .lanes = lanes},
                             {.rows = rows, .first_tile = static_cast<std::int64_t>(seed % 3) * 7});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Drain, OfEveryKindOfConversion) {
  std::uint64_t seed = 100;
  for (const Conversion& how : conversions()) {
    expect_drain_of_each({3, 9, 10}, how, {.run_seed = ++seed, .lanes = 4}, {.rows = 8, .first_tile = 2});
    if (HasFatalFailure()) return;
  }
}

TEST(Drain, ThreadsShareLongTensorsWithoutChangingABit) {
  const Conversion how{.to = formats::e5m2, .rounding = Rounding::sr(16)};
  expect_drain_of_each({16, 32, 49}, how, {.run_seed = 9}, {.rows = 16});
  expect_drain_of_each({2000, 20, 1}, how, {.run_seed = 10}, {.rows = 16});
  // Few rows of wide tiles, in one column of them and in several.
  expect_drain_of_each({3, 4100, 1}, how, {.run_seed = 11, .lanes = 4096}, {.rows = 4096, .first_tile = 3});
  expect_drain_of_each({2, 40, 5}, how, {.run_seed = 12, .lanes = 16}, {.rows = 64, .first_tile = 5});
}

// 300 products of one row in the largest array: places are 5 * 10^9, outputs 9 * 10^4.
TEST(Drain, UnusedPlacesAreNotVisited) {
  const Conversion how{.to = formats::e5m2, .rounding = Rounding::sr(16)};
  const DrawSource draws{.run_seed = 7, .lanes = 4096};
  const auto sums = sums_for(how, 300, 1);
  std::vector<std::uint8_t> codes(sums.size());
  for (std::int64_t product = 0; product < 300; ++product)
    kernels::drain<std::uint8_t>(sums, {1, 300, 1}, how, draws, {.rows = 4096, .first_tile = product}, codes);
  const std::uint32_t draw = draws.lane(299, std::uint64_t{299} * 4096).draw();
  EXPECT_EQ(codes.back(), convert(fp32_bits(sums.back()), how, draw).code);
}

TEST(Drain, RefusesWhatDoesNotFit) {
  const std::vector<float> sums(24);
  std::vector<float> values(24);
  std::vector<float> few(23);
  const NormShape shape{2, 3, 4};
  const Conversion how{.to = formats::e5m2, .rounding = Rounding::sr(8)};
  EXPECT_THROW(kernels::drain<float>(few, shape, how, {}, {}, values), std::invalid_argument);
  EXPECT_THROW(kernels::drain<float>(sums, shape, how, {}, {}, few), std::invalid_argument);
  EXPECT_THROW(kernels::drain<float>(sums, shape, how, {}, {.rows = 0}, values), std::invalid_argument);
  EXPECT_THROW(kernels::drain<float>(sums, shape, how, {}, {.first_tile = -1}, values),
               std::invalid_argument);
  EXPECT_THROW(kernels::drain<float>(sums, shape, how, {.lanes = 0}, {}, values), std::invalid_argument);
  EXPECT_THROW(kernels::round_values(sums, how, {.leap = 7}, values), std::invalid_argument);
  EXPECT_THROW(kernels::round_values(sums, how, {}, few), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

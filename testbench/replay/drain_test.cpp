// The drain quantizer output by output: tile, row and column give lane and draw, as ARITHMETIC.md 7 says.
#include "sim/replay/drain.hpp"

#include <gtest/gtest.h>

#include <random>

namespace mantissa::replay {
namespace {

constexpr DrawSource source(int cols) { return {.run_seed = 7, .stream = 0x0000000700020100, .lanes = cols}; }

std::vector<float> sums_of(const DrainedProduct& product) {
  std::mt19937 engine(3);
  std::normal_distribution<float> normal(0, 100);
  std::vector<float> sums(product.groups * product.m * product.n);
  for (float& x : sums) x = engine() % 5 == 0 ? 0.0F : normal(engine);
  return sums;
}

template <class Code>
void expect_drained(const DrainedProduct& product, int cols, const Conversion& how) {
  const std::vector<float> sums = sums_of(product);
  std::vector<Code> codes(sums.size());
  const ConversionCounts counts = drain_quantize<Code>(sums, product, how, source(cols), codes, 2);
  const std::int64_t tile_rows = (product.m + product.rows - 1) / product.rows;
  const std::int64_t tile_cols = (product.n + cols - 1) / cols;
  ConversionCounts expected;
  std::size_t i = 0;
  for (std::int64_t group = 0; group < product.groups; ++group) {
    for (std::int64_t m = 0; m < product.m; ++m) {
      for (std::int64_t n = 0; n < product.n; ++n, ++i) {
        const std::int64_t tile = (group * tile_rows + m / product.rows) * tile_cols + n / cols;
        const std::uint32_t draw = source(cols).lane(n % cols, tile * product.rows + m % product.rows).draw();
        const Rounded one = convert(fp32_bits(sums[i]), how, draw);
        ASSERT_EQ(codes[i], one.code)
            << group << ", " << m << ", " << n << " of " << product.groups << " x " << product.m << " x "
            << product.n << " on " << product.rows << " x " << cols;
        expected.overflow += one.flags.overflow ? 1 : 0;
        expected.inexact += one.flags.inexact ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(counts.elements, sums.size());
  EXPECT_EQ(counts.overflow, expected.overflow);
  EXPECT_EQ(counts.inexact, expected.inexact);
}

TEST(Drain, EveryOutputTakesTheDrawOfItsPlace) {
  const Conversion to_e5m2{.to = formats::e5m2, .rounding = Rounding::sr(16)};
  const Conversion to_fp16{.to = formats::fp16, .rounding = Rounding::sr(13)};
  const Conversion nearest{.to = formats::e4m3};
  for (const auto& [product, cols] : {
           std::pair(DrainedProduct{.groups = 3, .m = 10, .n = 5, .rows = 4}, 8),   // one column of tiles
           std::pair(DrainedProduct{.groups = 2, .m = 9, .n = 8, .rows = 4}, 8),    // just filled
           std::pair(DrainedProduct{.groups = 2, .m = 3, .n = 21, .rows = 16}, 8),  // few rows of many
           std::pair(DrainedProduct{.groups = 2, .m = 19, .n = 21, .rows = 8}, 8),  // tiles of all kinds
           std::pair(DrainedProduct{.groups = 1, .m = 2, .n = 40, .rows = 4096}, 4096),
           std::pair(DrainedProduct{.groups = 2, .m = 3, .n = 4100, .rows = 4096}, 4096),
       }) {
    expect_drained<std::uint8_t>(product, cols, to_e5m2);
    expect_drained<std::uint16_t>(product, cols, to_fp16);
    expect_drained<std::uint32_t>(product, cols, to_fp16);
    expect_drained<std::uint8_t>(product, cols, nearest);
  }
}

// Groups of one row in the largest array: places are 5 * 10^9, outputs 9 * 10^4.
TEST(Drain, UnusedPlacesAreNotVisited) {
  const DrainedProduct product{.groups = 300, .m = 1, .n = 300, .rows = 4096};
  const std::vector<float> sums = sums_of(product);
  std::vector<std::uint8_t> codes(sums.size());
  drain_quantize<std::uint8_t>(sums, product, {.to = formats::e5m2, .rounding = Rounding::sr(16)},
                               source(4096), codes, 1);
  const std::uint32_t draw = source(4096).lane(299, std::uint64_t{299} * 4096).draw();
  EXPECT_EQ(codes.back(),
            convert(fp32_bits(sums.back()), {.to = formats::e5m2, .rounding = Rounding::sr(16)}, draw).code);
}

}  // namespace
}  // namespace mantissa::replay

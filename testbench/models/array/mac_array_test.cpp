// One tile of the array: worked by hand, against the golden GEMM with other loops around it, and the training
// speed-ups at 85 % zeros.
#include "models/array/mac_array.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_pe.hpp"

namespace mantissa {
namespace {

using Codes = std::vector<std::uint8_t>;

constexpr std::uint8_t one = 0x3C;
constexpr std::uint8_t two = 0x40;
constexpr std::uint8_t inf = 0x7C;
constexpr std::uint8_t minus_zero = 0x80;

MacArray small_mac_array() {
  return {.skip_window = {.rows = 2, .window = 4, .depth = 2, .port = 2}, .cols = 2};
}

TEST(MacArray, TileByHand) {
  // nnz = (3, 1, 4) and (0, 2, 1): the example of ARITHMETIC.md 7.
  const Codes a = {one, one, one, 0, 0,   0, two, 0,   one, one, one, one,  //
                   0,   0,   0,   0, one, 0, 0,   one, 0,   0,   0,   two};
  const Codes b(12, two);
  const TileResult tile = mac_array(small_mac_array(), {.m = 2, .n = 1, .k = 12, .a = a, .b = b});
  EXPECT_EQ(tile.steps, (std::vector<SkipSchedule>{{11, 11}}));
  EXPECT_EQ(tile.compute_cycles(), 11U);
  EXPECT_EQ(small_mac_array().drain_cycles(), 4U);
  const std::vector<std::uint32_t> sums = {fp32_bits(18), 0, fp32_bits(8), 0};
  EXPECT_EQ(tile.accumulators, sums);
  // 18 lies between 16 and 20 of E5M2, a tie to even 16.
  EXPECT_EQ(tile.outputs[0], (Rounded{0x4C, {.inexact = true}}));
  EXPECT_EQ(tile.outputs[1], Rounded{});
  EXPECT_EQ(tile.outputs[2], (Rounded{0x48, {}}));
}

TEST(MacArray, StepsStartWithEmptyStaging) {
  const Codes a(12, one);
  const Codes b(12, one);
  const Tile whole{.m = 1, .n = 1, .k = 12, .a = a, .b = b};
  Tile cut = whole;
  cut.step_k = 8;
  const TileResult in_one = mac_array(small_mac_array(), whole);
  const TileResult in_two = mac_array(small_mac_array(), cut);
  EXPECT_EQ(in_one.steps, (std::vector<SkipSchedule>{{14, 12}}));
  EXPECT_EQ(in_two.steps, (std::vector<SkipSchedule>{{10, 8}, {6, 4}}));
  EXPECT_EQ(in_one.accumulators, in_two.accumulators);
  EXPECT_EQ(in_two.compute_cycles(), 16U);
}

TEST(MacArray, SkippedZeroSuppressesInfAndNan) {
  const Codes a = {minus_zero, one, 0, one};
  const Codes b = {inf, one, one, one, 0x7E, inf, one, one};  // [4, 2]
  MacArray array = small_mac_array();
  const Tile tile{.m = 1, .n = 2, .k = 4, .a = a, .b = b};
  const TileResult skipped = mac_array(array, tile);
  EXPECT_EQ(skipped.suppressed, 3U);  // k = 0 in one column, k = 2 in both; not in the unused row
  EXPECT_EQ(skipped.outputs[0], (Rounded{two, {}}));
  EXPECT_EQ(skipped.outputs[1], (Rounded{two, {}}));
  array.skip_window.skip = false;
  const TileResult dense = mac_array(array, tile);
  EXPECT_EQ(dense.suppressed, 0U);
  EXPECT_EQ(dense.outputs[0].code, formats::e5m2.nan_code());
  EXPECT_EQ(dense.outputs[1].code, formats::e5m2.nan_code());
  EXPECT_EQ(dense.outputs[3].code, formats::e5m2.nan_code());  // the unused row multiplies its zeros
}

TEST(MacArray, UnusedRowsSuppressNothing) {
  const Codes b = {inf, inf};
  EXPECT_EQ(mac_array(small_mac_array(), {.m = 0, .n = 2, .k = 1, .b = b}).suppressed, 0U);
}

TEST(MacArray, BiasComesBeforeTheQuantizer) {
  const Codes a = {one, two};
  const Codes b = {one};
  const std::vector<float> bias = {-1};
  MacArray array = small_mac_array();
  array.drain.scale = 3;
  const TileResult tile = mac_array(array, {.m = 2, .n = 1, .k = 1, .a = a, .b = b, .bias = bias});
  EXPECT_EQ(tile.accumulators[0], fp32_bits(1));
  EXPECT_EQ(tile.outputs[0], Rounded{});
  EXPECT_EQ(tile.outputs[2], (Rounded{0x48, {}}));
}

// Random tiles: every output accumulated by fp8_mac itself, step by step; drained with the draw that the text
// names.
TEST(MacArray, RandomTilesEqualScalarSteps) {
  std::mt19937_64 engine(7);
  for (int round = 0; round < 200; ++round) {
    MacArray array{.skip_window = {.rows = 4, .window = 8, .depth = 2, .port = 4}, .cols = 3};
    array.skip_window.skip = round % 2 == 0;
    array.b = round % 3 == 0 ? formats::e4m3 : formats::e5m2;
    array.accumulator = round % 5 == 0 ? formats::fp16 : formats::fp32;
    array.drain.rounding = Rounding::sr(8);
    array.drain.scale = static_cast<int>(engine() % 9) - 4;
    const DrawSource draws{.run_seed = engine(), .stream = 5, .lanes = 3};
    const auto m = static_cast<std::int64_t>(engine() % 5);
    const auto n = static_cast<std::int64_t>(engine() % 4);
    const auto k = static_cast<std::int64_t>(1 + engine() % 40);
    Codes a(m * k);
    for (std::uint8_t& code : a) code = engine() % 2 == 0 ? 0 : static_cast<std::uint8_t>(engine());
    Codes b(k * n);
    for (std::uint8_t& code : b) code = static_cast<std::uint8_t>(engine());
    std::vector<float> bias(n);
    for (float& value : bias) value = static_cast<float>(engine() % 100) / 8;
    const Tile tile{.m = m, .n = n, .k = k, .a = a, .b = b, .bias = bias};
    std::vector<Lfsr> lanes = drain_lanes(array, draws, 3);
    const TileResult result = mac_array(array, tile, lanes);
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t col = 0; col < n; ++col) {
        std::uint32_t acc = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          const std::uint8_t x = a[row * k + i];
          if (array.skip_window.skip && array.a.is_zero(x)) continue;
          acc = fp8_pe(x, b[i * n + col], acc, {.a = array.a, .b = array.b, .acc = array.accumulator});
        }
        EXPECT_EQ(result.accumulators[row * 3 + col], acc);
        const std::uint32_t wide = convert(acc, {.from = array.accumulator}).code;
        const std::uint32_t biased = fp32_add(wide, fp32_bits(bias[col])).code;
        const std::uint32_t draw = draws.lane(col, std::uint64_t{3} * 4 + row).draw();
        EXPECT_EQ(result.outputs[row * 3 + col], convert(biased, array.drain, draw));
      }
    }
  }
}

// The whole tile with its values, where skip_window_test has counts only.
TEST(MacArray, TrainingSpeedUpAt85PercentZeros) {
  const std::int64_t k = 3200;
  const double expected[3] = {1.57, 1.88, 2.00};
  const std::array<int, 3> depths = {1, 2, 4};
  std::mt19937_64 engine(61);
  std::bernoulli_distribution nonzero(.15);
  Codes a(16 * k);
  for (std::uint8_t& code : a) code = nonzero(engine) ? one : minus_zero;
  for (std::size_t d = 0; d < depths.size(); ++d) {
    MacArray array{.skip_window = {.depth = depths[d]}};
    const Tile tile{.m = 16, .n = 0, .k = k, .a = a};
    const auto skip = static_cast<double>(mac_array(array, tile).compute_cycles());
    array.skip_window.skip = false;
    const auto dense = static_cast<double>(mac_array(array, tile).compute_cycles());
    EXPECT_NEAR(3 * dense / (dense + 2 * skip), expected[d], 0.02) << depths[d];
  }
}

TEST(MacArray, RefusesWhatDoesNotFit) {
  const Codes codes(8, one);
  const std::vector<float> bias(2);
  const MacArray array = small_mac_array();
  EXPECT_THROW(mac_array(array, {.m = 3, .n = 1, .k = 2, .a = codes, .b = codes}), std::invalid_argument);
  EXPECT_THROW(mac_array(array, {.m = 2, .n = 2, .k = 3, .a = codes, .b = codes}), std::invalid_argument);
  EXPECT_THROW(mac_array(array, {.m = 1, .n = 1, .k = 8, .a = codes, .b = codes, .bias = bias}),
               std::invalid_argument);
  MacArray stochastic = array;
  stochastic.drain.rounding = Rounding::sr(8);
  EXPECT_THROW(mac_array(stochastic, {.m = 1, .n = 1, .k = 8, .a = codes, .b = codes}),
               std::invalid_argument);
  EXPECT_THROW(drain_lanes(stochastic, {.leap = 4}, 0), std::invalid_argument);
  EXPECT_THROW(mac_array({.cols = 0}, {}), std::invalid_argument);
  EXPECT_THROW(mac_array({.pipe_latency = -1}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

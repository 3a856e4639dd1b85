// The array with two sets of accumulators: worked by hand, and against plain loops.
#include "models/array/block_array.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"

namespace mantissa {
namespace {

using Codes = std::vector<std::uint8_t>;
using Sums = std::vector<std::uint32_t>;

constexpr std::uint8_t plus_one = 0x3C;
constexpr std::uint8_t plus_two = 0x40;
constexpr std::uint8_t minus_one = 0xBC;
constexpr std::uint8_t plus_inf = 0x7C;
constexpr std::uint8_t zero_minus = 0x80;

const Codes both = {1, 1};
const Codes first = {1, 0};
const Codes second = {0, 1};

BlockArray small_array() {
  return {.skip_window = {.rows = 2, .window = 4, .depth = 2, .port = 2}, .cols = 2};
}

Sums copy(std::span<const std::uint32_t> sums) { return {sums.begin(), sums.end()}; }

TEST(BlockArray, RunByHand) {
  // nnz = (3, 1, 4) and (0, 2, 1): the example of ARITHMETIC.md 7.
  const Codes a = {plus_one, plus_one, plus_one, 0,        0,        0,
                   plus_two, 0,        plus_one, plus_one, plus_one, plus_one,  //
                   0,        0,        0,        0,        plus_one, 0,
                   0,        plus_one, 0,        0,        0,        plus_two};
  const Codes b(24, plus_two);
  BlockSums sums(small_array());
  EXPECT_EQ(sums.run({.k = 12, .a = a, .b = b, .used_rows = both, .enabled_cols = first}),
            (SkipSchedule{11, 11}));
  EXPECT_EQ(copy(sums.working()), (Sums{fp32_bits(18), 0, fp32_bits(8), 0}));
  EXPECT_EQ(copy(sums.shadow()), Sums(4));
  // The rows of an array that does not skip take all 12, in use or not.
  EXPECT_EQ(sums.run({.k = 12, .a = a, .b = b, .used_rows = second, .enabled_cols = second, .skip = false}),
            (SkipSchedule{14, 12}));
  EXPECT_EQ(copy(sums.working()), (Sums{fp32_bits(18), 0, fp32_bits(8), fp32_bits(8)}));
}

TEST(BlockArray, SetsChangeRoles) {
  const Codes a = {plus_one, plus_two};
  const Codes b = {plus_one, plus_two};
  const BlockRun run{.k = 1, .a = a, .b = b, .used_rows = both, .enabled_cols = both};
  const Sums once = {fp32_bits(1), fp32_bits(2), fp32_bits(2), fp32_bits(4)};
  BlockSums sums(small_array());
  sums.run(run);
  sums.swap();
  EXPECT_EQ(copy(sums.shadow()), once);
  EXPECT_EQ(copy(sums.working()), Sums(4));
  sums.load(0, {});
  sums.load(1, Sums{fp32_bits(10), fp32_bits(20)});
  sums.run(run);
  sums.swap();
  EXPECT_EQ(copy(sums.shadow()), once);
  sums.run(run);
  EXPECT_EQ(copy(sums.working()), (Sums{fp32_bits(1), fp32_bits(2), fp32_bits(12), fp32_bits(24)}));
}

TEST(BlockArray, SuppressesWhatIsInUseAndEnabled) {
  const Codes a = {zero_minus, 0};
  const Codes b = {plus_inf, plus_one};
  BlockRun run{.k = 1, .a = a, .b = b, .used_rows = first, .enabled_cols = second};
  BlockSums sums(small_array());
  sums.run(run);
  sums.swap();
  EXPECT_EQ(sums.shadow_suppressed(), 0U);
  run.enabled_cols = both;
  sums.run(run);
  sums.swap();
  EXPECT_EQ(sums.shadow_suppressed(), 1U);
  // Of a tile: another run adds to it, the next tile starts without.
  run.used_rows = both;
  sums.run(run);
  run.enabled_cols = second;
  sums.run(run);
  sums.swap();
  EXPECT_EQ(sums.shadow_suppressed(), 2U);
  EXPECT_EQ(copy(sums.shadow()), Sums(4));
  sums.swap();
  EXPECT_EQ(sums.shadow_suppressed(), 0U);
  // Multiplied, zero and Inf make NaN, in rows that are in use.
  run = {.k = 1, .a = a, .b = b, .used_rows = first, .enabled_cols = both, .skip = false};
  sums.run(run);
  EXPECT_EQ(copy(sums.working()), (Sums{0x7FC00000, 0, 0, 0}));
}

TEST(BlockArray, ZeroIsPlusZero) {
  const Codes a = {plus_one, zero_minus};
  const Codes b = {minus_one, 0};
  BlockSums sums(small_array());
  sums.swap();
  sums.load(0, Sums{fp32_bits(1), fp32_bits(1)});
  sums.swap();
  const BlockRun run{.k = 1, .a = a, .b = b, .used_rows = both, .enabled_cols = first, .skip = false};
  sums.run(run);
  EXPECT_EQ(copy(sums.working()), (Sums{0, fp32_bits(1), 0, 0}));
}

// In runs of random length and extent, from loaded sums: FMAs in the order of k. Integers, so that the test's
// decoding is a table.
TEST(BlockArray, RandomRunsEqualFmaLoops) {
  const std::vector<std::pair<std::uint8_t, float>> values = {{0, 0.F},      {0x80, -0.F},  {plus_one, 1.F},
                                                              {0xC0, -2.F},  {0x3D, 1.25F}, {0x2D, 0.078125F},
                                                              {0x6B, 3584.F}};
  std::mt19937_64 engine(17);
  BlockArray array{.skip_window = {.rows = 3, .window = 8, .depth = 2, .port = 4}, .cols = 5};
  BlockSums sums(array);
  std::vector<float> sets[2] = {std::vector<float>(15), std::vector<float>(15)};
  for (int tile = 0; tile < 200; ++tile) {
    std::vector<float>& expected = sets[tile % 2];
    for (auto runs = 1 + engine() % 3; runs > 0; --runs) {
      const auto k = static_cast<std::int64_t>(1 + engine() % 20);
      Codes rows(3);
      Codes cols(5);
      for (std::uint8_t& row : rows) row = engine() % 4 != 0;
      for (std::uint8_t& col : cols) col = engine() % 2;
      Codes a(3 * k);
      Codes b(k * 5);
      std::vector<float> a_values;
      std::vector<float> b_values;
      const auto draw = [&](Codes& codes, std::vector<float>& numbers) {
        for (std::uint8_t& code : codes) {
          const auto& [its_code, value] = values[engine() % values.size()];
          code = its_code;
          numbers.push_back(value);
        }
      };
      draw(a, a_values);
      draw(b, b_values);
      sums.run({.k = k, .a = a, .b = b, .used_rows = rows, .enabled_cols = cols, .skip = engine() % 2 == 0});
      for (int i = 0; i < 15; ++i) {
        const int row = i / 5;
        const int col = i % 5;
        for (std::int64_t at = 0; at < k && rows[row] != 0 && cols[col] != 0; ++at) {
          expected[i] = std::fma(a_values[row * k + at], b_values[at * 5 + col], expected[i]);
          if (expected[i] == 0) expected[i] = 0;
        }
      }
    }
    sums.swap();
    for (int i = 0; i < 15; ++i) ASSERT_EQ(sums.shadow()[i], std::bit_cast<std::uint32_t>(expected[i]));
    for (int row = 0; row < 3; ++row) {
      const bool load = engine() % 2 == 0;
      Sums loaded;
      for (int col = 0; col < 5; ++col) {
        const float value = load ? static_cast<float>(engine() % 100) : 0.F;
        if (load) loaded.push_back(fp32_bits(value));
        expected[row * 5 + col] = value;
      }
      sums.load(row, loaded);
    }
  }
}

TEST(BlockArray, ExchangeOfSeveralRows) {
  BlockArray array{.skip_window = {.rows = 5}};
  EXPECT_EQ(array.exchange_cycles(), 5);
  array.sum_rows = 2;
  EXPECT_EQ(array.exchange_cycles(), 3);
}

TEST(BlockArray, RefusesWhatDoesNotFit) {
  const Codes codes(4, plus_one);
  BlockSums sums(small_array());
  const BlockRun run{.k = 2, .a = codes, .b = codes, .used_rows = both, .enabled_cols = both};
  EXPECT_NO_THROW(sums.run(run));
  BlockRun bad = run;
  bad.k = 3;
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  bad = run;
  bad.used_rows = codes;
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  bad = run;
  bad.enabled_cols = {};
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  EXPECT_THROW(sums.load(2, {}), std::invalid_argument);
  EXPECT_THROW(sums.load(0, Sums(3)), std::invalid_argument);
  EXPECT_THROW(BlockSums({.cols = 0}), std::invalid_argument);
  EXPECT_THROW(BlockSums({.sum_rows = 17}), std::invalid_argument);
  EXPECT_THROW(BlockSums({.accumulator = Format::parse("e8m24")}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

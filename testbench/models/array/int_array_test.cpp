// One tile of the integer array: worked by hand, and against sums of 128 bits with loops of their own.
#include "models/array/int_array.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "models/array/mac_array.hpp"

namespace mantissa {
namespace {

using Integers = std::vector<std::uint16_t>;

IntArray small_int_array() {
  return {.skip_window = {.rows = 2, .window = 4, .depth = 2, .port = 2}, .cols = 2};
}

TEST(IntArray, TileByHand) {
  // nnz = (3, 1, 4) and (0, 2, 1): the example of ARITHMETIC.md 7.
  const Integers a = {1, 1, 255, 0, 0, 0, 2, 0, 1, 1, 1, 1,  //
                      0, 0, 0,   0, 1, 0, 0, 3, 0, 0, 0, 2};
  const Integers b(12, 255);
  const IntTileResult tile = int_array(small_int_array(), {.m = 2, .n = 1, .k = 12, .a = a, .b = b});
  EXPECT_EQ(tile.steps, (std::vector<SkipSchedule>{{11, 11}}));
  EXPECT_EQ(tile.compute_cycles(), 11U);
  EXPECT_EQ(small_int_array().drain_cycles(), 4U);
  EXPECT_EQ(tile.sums, (std::vector<std::uint64_t>{263UL * 255, 0, 6UL * 255, 0}));
  EXPECT_FALSE(tile.overflow);
}

TEST(IntArray, LastSumThatFitsAndFirstThatDoesNot) {
  IntArray array = small_int_array();
  array.acc_bits = 16;
  // 255 * 255 + 255 * 2 = 2^16 - 1.
  const Integers fits = {255, 255, 0};
  const Integers wraps = {255, 255, 1};
  const Integers b = {255, 2, 1};
  const IntTileResult last = int_array(array, {.m = 1, .n = 1, .k = 3, .a = fits, .b = b});
  EXPECT_EQ(last.sums[0], 0xFFFFU);
  EXPECT_FALSE(last.overflow);
  const IntTileResult first = int_array(array, {.m = 1, .n = 1, .k = 3, .a = wraps, .b = b});
  EXPECT_EQ(first.sums[0], 0U);
  EXPECT_TRUE(first.overflow);
}

TEST(IntArray, WrapIsNotForgottenByLaterSteps) {
  IntArray array = small_int_array();
  array.acc_bits = 16;
  const Integers a = {255, 255, 0, 0, 1};
  const Integers b = {255, 255, 9, 9, 1};
  const IntTileResult tile = int_array(array, {.m = 1, .n = 1, .k = 5, .a = a, .b = b, .step_k = 4});
  EXPECT_TRUE(tile.overflow);
  EXPECT_EQ(tile.sums[0], (2 * 255 * 255 + 1) % 65536U);
  EXPECT_EQ(tile.steps.size(), 2U);
}

// Widths, shapes and densities; cycles are those that mac_array has for the same zeros.
TEST(IntArray, RandomTilesEqualWideSums) {
  std::mt19937_64 engine(11);
  int wrapped = 0;
  for (int round = 0; round < 300; ++round) {
    IntArray array{.skip_window = {.rows = 4, .window = 8, .depth = 2, .port = 4}, .cols = 3};
    array.skip_window.skip = round % 2 == 0;
    array.a_bits = round % 3 == 0 ? 16 : 8;
    array.b_bits = round % 3 == 1 ? 16 : 8;
    array.acc_bits = round % 5 == 0 ? 25 : 48;
    const auto m = static_cast<std::int64_t>(engine() % 5);
    const auto n = static_cast<std::int64_t>(engine() % 4);
    const auto k = static_cast<std::int64_t>(1 + engine() % 60);
    const auto step_k = static_cast<std::int64_t>(8 * (engine() % 3));
    Integers a(m * k);
    std::vector<std::uint8_t> codes;
    for (std::uint16_t& x : a) {
      x = static_cast<std::uint16_t>(engine() % 2 == 0 ? 0 : engine() & ((1U << array.a_bits) - 1));
      codes.push_back(x == 0 ? 0 : 0x3C);
    }
    Integers b(k * n);
    for (std::uint16_t& x : b) x = static_cast<std::uint16_t>(engine() & ((1U << array.b_bits) - 1));
    const IntTileResult tile = int_array(array, {.m = m, .n = n, .k = k, .a = a, .b = b, .step_k = step_k});

    bool overflow = false;
    for (int row = 0; row < 4; ++row) {
      for (int col = 0; col < 3; ++col) {
        unsigned __int128 sum = 0;
        for (std::int64_t i = 0; row < m && col < n && i < k; ++i) {
          sum += static_cast<unsigned __int128>(a[row * k + i]) * b[i * n + col];
        }
        overflow = overflow || sum >> array.acc_bits != 0;
        const unsigned __int128 limit = static_cast<unsigned __int128>(1) << array.acc_bits;
        EXPECT_EQ(tile.sums[row * 3 + col], static_cast<std::uint64_t>(sum % limit));
      }
    }
    EXPECT_EQ(tile.overflow, overflow);
    wrapped += overflow ? 1 : 0;
    const MacArray floats{.skip_window = array.skip_window, .cols = 3};
    EXPECT_EQ(tile.steps, mac_array(floats, {.m = m, .n = 0, .k = k, .a = codes, .step_k = step_k}).steps);
  }
  EXPECT_GT(wrapped, 5);
  EXPECT_LT(wrapped, 60);
}

TEST(IntArray, RefusesWhatDoesNotFit) {
  const Integers ones(8, 1);
  const Integers wide(8, 256);
  const IntArray array = small_int_array();
  EXPECT_THROW(int_array(array, {.m = 3, .n = 1, .k = 2, .a = ones, .b = ones}), std::invalid_argument);
  EXPECT_THROW(int_array(array, {.m = 2, .n = 2, .k = 3, .a = ones, .b = ones}), std::invalid_argument);
  EXPECT_THROW(int_array(array, {.m = 1, .n = 1, .k = 8, .a = wide, .b = ones}), std::invalid_argument);
  EXPECT_THROW(int_array(array, {.m = 1, .n = 1, .k = 8, .a = ones, .b = wide}), std::invalid_argument);
  EXPECT_THROW(IntArray{.cols = 0}.check(), std::invalid_argument);
  EXPECT_THROW(IntArray{.pipe_latency = -1}.check(), std::invalid_argument);
  EXPECT_THROW(IntArray{.a_bits = 12}.check(), std::invalid_argument);
  EXPECT_THROW((IntArray{.a_bits = 16, .b_bits = 16}.check()), std::invalid_argument);
  EXPECT_THROW((IntArray{.a_bits = 16, .acc_bits = 23}.check()), std::invalid_argument);
  EXPECT_THROW(IntArray{.acc_bits = 49}.check(), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// The array of integers with two sets of accumulators: worked by hand, and against sums of 128 bits.
#include "models/array/int_block_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace mantissa {
namespace {

using Integers = std::vector<std::uint16_t>;
using Masks = std::vector<std::uint8_t>;
using IntSums = std::vector<std::uint64_t>;
__extension__ using Wide = unsigned __int128;

const Masks all_of_two = {1, 1};
const Masks first_of_two = {1, 0};

IntBlockArray small_int_block_array() {
  return {.skip_window = {.rows = 2, .window = 4, .depth = 2, .port = 2}, .cols = 2};
}

IntSums int_sums(std::span<const std::uint64_t> sums) { return {sums.begin(), sums.end()}; }

TEST(IntBlockArray, RunByHand) {
  // nnz = (3, 1, 4) and (0, 2, 1): the example of ARITHMETIC.md 7. Sums of A: 263 and 6.
  const Integers a = {1, 1, 255, 0, 0, 0, 2, 0, 1, 1, 1, 1,  //
                      0, 0, 0,   0, 1, 0, 0, 3, 0, 0, 0, 2};
  const Integers b(24, 255);
  IntBlockSums sums(small_int_block_array());
  EXPECT_EQ(sums.run({.k = 12, .a = a, .b = b, .used_rows = all_of_two, .enabled_cols = first_of_two}),
            (SkipSchedule{11, 11}));
  EXPECT_EQ(int_sums(sums.working()), (IntSums{67065, 0, 1530, 0}));
  // A zero of A adds nothing, and takes a cycle where none is left out.
  EXPECT_EQ(
      sums.run(
          {.k = 12, .a = a, .b = b, .used_rows = first_of_two, .enabled_cols = first_of_two, .skip = false}),
      (SkipSchedule{14, 12}));
  EXPECT_EQ(int_sums(sums.working()), (IntSums{134130, 0, 1530, 0}));
}

TEST(IntBlockArray, AWrapBelongsToItsTile) {
  IntBlockArray array = small_int_block_array();
  array.acc_bits = 16;
  const Integers one = {1, 1};
  const IntBlockRun run{.k = 1, .a = one, .b = one, .used_rows = first_of_two, .enabled_cols = all_of_two};
  IntBlockSums sums(array);
  sums.swap();
  sums.load(0, IntSums{0xFFFF, 0xFFFE});
  sums.swap();
  sums.run(run);  // into what was loaded: the first_of_two sum wraps, the second does not
  EXPECT_EQ(int_sums(sums.working()), (IntSums{0, 0xFFFF, 0, 0}));
  sums.run({.k = 1, .a = one, .b = one, .used_rows = first_of_two, .enabled_cols = first_of_two});
  EXPECT_FALSE(sums.shadow_overflow());
  sums.swap();
  EXPECT_TRUE(sums.shadow_overflow());
  EXPECT_EQ(int_sums(sums.shadow()), (IntSums{1, 0xFFFF, 0, 0}));
  sums.run(run);
  sums.swap();
  EXPECT_FALSE(sums.shadow_overflow());
  sums.swap();  // the set that wrapped, in a tile in which nothing does
  EXPECT_FALSE(sums.shadow_overflow());
}

TEST(IntBlockArray, RandomRunsEqualLoops) {
  std::mt19937_64 engine(18);
  constexpr std::pair<int, int> widths[] = {{8, 8}, {16, 8}, {8, 16}};
  for (int round = 0; round < 200; ++round) {
    const auto [a_bits, b_bits] = widths[round % 3];
    const IntBlockArray array{.skip_window = {.rows = 3, .window = 8, .depth = 2, .port = 4},
                              .cols = 5,
                              .a_bits = a_bits,
                              .b_bits = b_bits,
                              .acc_bits = 24 + static_cast<int>(engine() % 3)};
    const Wide modulus = Wide{1} << array.acc_bits;
    const auto integers = [&engine](std::int64_t count, int bits) {
      Integers all(count);
      for (std::uint16_t& q : all) q = static_cast<std::uint16_t>(engine() & ((1U << bits) - 1));
      return all;
    };
    const auto flags = [&engine](int count) {
      Masks all(count);
      for (std::uint8_t& flag : all) flag = static_cast<std::uint8_t>(engine() % 4 != 0);
      return all;
    };
    IntBlockSums sums(array);
    std::vector<Wide> exact(15);
    IntSums loaded(15);
    for (std::uint64_t& sum : loaded) sum = engine() & ((std::uint64_t{1} << array.acc_bits) - 1);
    for (std::size_t row = 0; row < 3; ++row)
      sums.load(static_cast<int>(row), std::span(loaded).subspan(5 * row, 5));
    sums.swap();
    std::copy(loaded.begin(), loaded.end(), exact.begin());
    for (int number = 0; number < 2; ++number) {
      const auto k = 1 + static_cast<std::int64_t>(engine() % 30);
      const Integers a = integers(3 * k, a_bits);
      const Integers b = integers(k * 5, b_bits);
      const Masks used = flags(3);
      const Masks enabled = flags(5);
      sums.run(
          {.k = k, .a = a, .b = b, .used_rows = used, .enabled_cols = enabled, .skip = engine() % 2 == 0});
      for (int place = 0; place < 15; ++place) {
        if (used[place / 5] == 0 || enabled[place % 5] == 0) continue;
        for (std::int64_t i = 0; i < k; ++i)
          exact[place] += Wide{a[place / 5 * k + i]} * b[i * 5 + place % 5];
      }
    }
    bool wraps = false;
    for (int place = 0; place < 15; ++place) {
      ASSERT_EQ(sums.working()[place], static_cast<std::uint64_t>(exact[place] % modulus));
      wraps = wraps || exact[place] >= modulus;
    }
    sums.swap();
    ASSERT_EQ(sums.shadow_overflow(), wraps);
  }
}

TEST(IntBlockArray, RefusesWhatDoesNotFit) {
  const Integers four(4, 1);
  IntBlockSums sums(small_int_block_array());
  const IntBlockRun run{.k = 2, .a = four, .b = four, .used_rows = all_of_two, .enabled_cols = all_of_two};
  EXPECT_NO_THROW(sums.run(run));
  IntBlockRun bad = run;
  bad.k = 3;
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  bad = run;
  bad.enabled_cols = {};
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  bad = run;
  const Integers wide(4, 256);
  bad.a = wide;
  EXPECT_THROW(sums.run(bad), std::invalid_argument);
  EXPECT_THROW(sums.load(2, {}), std::invalid_argument);
  EXPECT_THROW(sums.load(0, IntSums(3)), std::invalid_argument);
  EXPECT_THROW(IntBlockSums({.cols = 0}), std::invalid_argument);
  EXPECT_THROW(IntBlockSums({.sum_rows = 17}), std::invalid_argument);
  EXPECT_THROW(IntBlockSums({.a_bits = 16, .b_bits = 16}), std::invalid_argument);
  EXPECT_THROW(IntBlockSums({.acc_bits = 49}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// The integer multiply-accumulate against plain 128-bit arithmetic, and its refusal to wrap.
#include "models/mac/int_mac.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr std::uint64_t largest_sum = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t largest_product = std::uint64_t{255} * 65535;

TEST(IntMac, AllEightBitPairs) {
  for (std::uint32_t a = 0; a < 256; ++a) {
    for (std::uint32_t b = 0; b < 256; ++b) ASSERT_EQ(int_mac(a, b, 1000), 1000 + a * b);
  }
}

TEST(IntMac, SixteenBitOperandsEqualWideSumsOrOverflow) {
  std::mt19937_64 engine(1);
  int overflows = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto a = static_cast<std::uint32_t>(engine() & 0xFF);
    const auto b = static_cast<std::uint32_t>(engine() & 0xFFFF);
    const std::uint64_t acc = largest_sum - (engine() & 0xFFFFFF);
    const unsigned __int128 exact =
        static_cast<unsigned __int128>(acc) + static_cast<unsigned __int128>(a) * b;
    if (exact > largest_sum) {
      ++overflows;
      ASSERT_THROW(int_mac(a, b, acc, 16), std::overflow_error);
      ASSERT_EQ(int_mac_wrapping(a, b, acc, 16),
                (WrappedSum{static_cast<std::uint64_t>(exact & largest_sum), true}));
    } else {
      ASSERT_EQ(int_mac(a, b, acc, 16), static_cast<std::uint64_t>(exact));
      ASSERT_EQ(int_mac_wrapping(a, b, acc, 16), (WrappedSum{static_cast<std::uint64_t>(exact), false}));
    }
  }
  EXPECT_GT(overflows, 10000);
  EXPECT_LT(overflows, 90000);
}

TEST(IntMac, LastSumThatFitsAndFirstThatDoesNot) {
  EXPECT_EQ(int_mac(1, 1, largest_sum - 1), largest_sum);
  EXPECT_THROW(int_mac(1, 1, largest_sum), std::overflow_error);
  EXPECT_EQ(int_mac(0, 255, largest_sum), largest_sum);
  EXPECT_EQ(int_mac(255, 65535, largest_sum - largest_product, 16), largest_sum);
  EXPECT_THROW(int_mac(255, 65535, largest_sum - largest_product + 1, 16), std::overflow_error);
}

TEST(IntMac, NarrowSumsWrapAtTheirOwnWidth) {
  EXPECT_EQ(int_mac_wrapping(255, 255, 510, 8, 16), (WrappedSum{65535, false}));
  EXPECT_EQ(int_mac_wrapping(255, 255, 511, 8, 16), (WrappedSum{0, true}));
  EXPECT_EQ(int_mac_wrapping(1, 1, (1U << 25) - 1, 16, 25), (WrappedSum{0, true}));
  EXPECT_THROW(int_mac_wrapping(1, 1, 0, 8, 15), std::invalid_argument);
  EXPECT_THROW(int_mac_wrapping(1, 1, 0, 16, 23), std::invalid_argument);
  EXPECT_THROW(int_mac_wrapping(1, 1, 0, 8, 49), std::invalid_argument);
  EXPECT_THROW(int_mac_wrapping(1, 1, 65536, 8, 16), std::invalid_argument);
}

TEST(IntMac, RefusesOperandsWiderThanTheirPorts) {
  EXPECT_THROW(int_mac(256, 1, 0), std::invalid_argument);
  EXPECT_THROW(int_mac(1, 256, 0), std::invalid_argument);
  EXPECT_EQ(int_mac(1, 256, 0, 16), 256U);
  EXPECT_THROW(int_mac(1, 65536, 0, 16), std::invalid_argument);
  EXPECT_THROW(int_mac(1, 1, largest_sum + 1), std::invalid_argument);
  EXPECT_THROW(int_mac(1, 1, 0, 12), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

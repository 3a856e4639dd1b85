// The LFSR: period by algebra, jump-ahead against stepping, refusals, recurrences of its draws
// (ARITHMETIC.md 3).
#include "models/random/lfsr.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

constexpr std::uint64_t period = 0xFFFFFFFFU;

// Bit by bit from the polynomial x^32 + x^22 + x^2 + x + 1: dividing by x moves every coefficient down one
// place, and a lost constant term comes back as the polynomial divided by x.
std::uint32_t step_by_definition(std::uint32_t state) {
  std::uint32_t next = 0;
  for (int bit = 0; bit < 31; ++bit) next |= (state >> (bit + 1) & 1) << bit;
  if ((state & 1) != 0) {
    for (const int exponent : {32, 22, 2, 1}) next ^= 1U << (exponent - 1);
  }
  return next;
}

TEST(Lfsr, StepFollowsThePolynomial) {
  test::Random random(1);
  EXPECT_EQ(lfsr_step(1), 0x80200003U);
  EXPECT_EQ(lfsr_step(2), 1U);
  for (int i = 0; i < 100000; ++i) {
    const auto state = static_cast<std::uint32_t>(random());
    ASSERT_EQ(lfsr_step(state), step_by_definition(state));
    ASSERT_EQ(lfsr_step_matrix() * state, step_by_definition(state));
  }
}

// M^(2^32-1) = I, so every cycle's length divides 2^32-1; M^((2^32-1)/q) - I has full rank for each prime q,
// so no non-zero state returns earlier.
TEST(Lfsr, PeriodIs2To32Minus1) {
  const Gf2Matrix step = lfsr_step_matrix();
  EXPECT_EQ(step.power(period), Gf2Matrix::identity());
  std::uint64_t product = 1;
  for (const std::uint64_t prime : {3, 5, 17, 257, 65537}) {
    EXPECT_NE(step.power(period / prime), Gf2Matrix::identity()) << prime;
    Gf2Matrix early = step.power(period / prime);
    for (int i = 0; i < 32; ++i) early.column[i] ^= 1U << i;
    // Rank by elimination: each new vector is reduced by those before it, largest first, and kept unless it
    // vanishes.
    std::set<std::uint32_t, std::greater<>> basis;
    for (std::uint32_t vector : early.column) {
      for (const std::uint32_t known : basis) vector = std::min(vector, vector ^ known);
      if (vector != 0) basis.insert(vector);
    }
    EXPECT_EQ(basis.size(), 32U) << prime;
    product *= prime;
  }
  EXPECT_EQ(product, period);
}

TEST(Lfsr, DrawIsLeapSteps) {
  for (int leap = 1; leap <= 32; ++leap) {
    Lfsr lfsr(0x12345678, leap);
    EXPECT_EQ(lfsr.leap(), leap);
    std::uint32_t state = 0x12345678;
    EXPECT_EQ(lfsr.state(), state);
    for (int n = 0; n < 100; ++n) {
      for (int i = 0; i < leap; ++i) state = step_by_definition(state);
      ASSERT_EQ(lfsr.draw(), state) << "leap " << leap << " draw " << n;
      ASSERT_EQ(lfsr.state(), state);
    }
  }
}

TEST(Lfsr, SkipEqualsSteppingAt10000RandomDistances) {
  test::Random random(2);
  // One long walk in steps serves all distances up to 2^17 draws.
  for (const int leap : {1, 16, 31}) {
    constexpr int length = 1 << 17;
    const auto seed = static_cast<std::uint32_t>(random()) | 1U;
    std::vector<std::uint32_t> walked = {seed};
    Lfsr walker(seed, leap);
    for (int i = 0; i < length; ++i) walked.push_back(walker.draw());
    for (int i = 0; i < 10000; ++i) {
      const std::uint64_t from = random() % length;
      const std::uint64_t distance = random() % (length - from + 1);
      Lfsr jumper(walked[from], leap);
      jumper.skip(distance);
      ASSERT_EQ(jumper.state(), walked[from + distance]) << "leap " << leap << " distance " << distance;
    }
  }
}

TEST(Lfsr, FarSkipsCompose) {
  test::Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const int leap = 1 + static_cast<int>(random() % 32);
    const std::uint32_t seed = static_cast<std::uint32_t>(random()) | 1U;
    const std::uint64_t a = random() >> (1 + random() % 60);
    const std::uint64_t b = random() >> (1 + random() % 60);
    Lfsr twice(seed, leap);
    twice.skip(a);
    twice.skip(b);
    Lfsr once(seed, leap);
    once.skip(a + b);
    ASSERT_EQ(twice.state(), once.state()) << leap << " " << a << " " << b;
    // A draw of leap steps is leap draws of one step.
    Lfsr single(seed, 1);
    for (int k = 0; k < leap; ++k) single.skip(a % period);
    Lfsr wide(seed, leap);
    wide.skip(a);
    ASSERT_EQ(wide.state(), single.state()) << leap << " " << a;
  }
  Lfsr whole(0xDEADBEEF, 16);
  whole.skip(period);
  EXPECT_EQ(whole.state(), 0xDEADBEEFU);
  whole.skip(period - 1);
  whole.draw();
  EXPECT_EQ(whole.state(), 0xDEADBEEFU);
}

TEST(Lfsr, RefusesSeedZeroAndBadLeaps) {
  EXPECT_THROW(Lfsr(0), std::invalid_argument);
  for (const int leap : {0, -1, 33, 64}) {
    EXPECT_THROW(Lfsr(1, leap), std::invalid_argument) << leap;
    EXPECT_THROW(check_leap(leap), std::invalid_argument) << leap;
  }
  for (int leap = 1; leap <= 32; ++leap) {
    for (int bits = -1; bits <= 33; ++bits) {
      if (bits >= 0 && bits <= leap) {
        EXPECT_NO_THROW(check_leap(leap, bits)) << leap << " " << bits;
      } else {
        EXPECT_THROW(check_leap(leap, bits), std::invalid_argument) << leap << " " << bits;
      }
    }
  }
  try {
    check_leap(33);
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("1..32"), std::string::npos);
  }
}

TEST(Lfsr, LeapsThatShortenThePeriod) {
  for (int leap = 1; leap <= 32; ++leap) {
    const std::uint32_t divisor = leap_period_divisor(leap);
    const std::uint32_t expected =
        (leap % 3 == 0 ? 3U : 1U) * (leap % 5 == 0 ? 5U : 1U) * (leap % 17 == 0 ? 17U : 1U);
    EXPECT_EQ(divisor, expected) << leap;
    // The draws really return after the shortened period, and no prime part of it earlier.
    Lfsr lfsr(0xCAFE, leap);
    lfsr.skip(period / divisor);
    EXPECT_EQ(lfsr.state(), 0xCAFEU) << leap;
    for (const std::uint64_t prime : {3, 5, 17, 257, 65537}) {
      if (period / divisor % prime != 0) continue;
      Lfsr early(0xCAFE, leap);
      early.skip(period / divisor / prime);
      EXPECT_NE(early.state(), 0xCAFEU) << leap << " " << prime;
    }
  }
}

TEST(Lfsr, RecurrenceGeneratesTheDraws) {
  for (int leap = 1; leap <= 32; ++leap) {
    const std::vector<int> lags = draw_recurrence(leap);
    ASSERT_FALSE(lags.empty()) << leap;
    const int degree = lags.back();
    EXPECT_LE(degree, 32) << leap;
    for (const std::uint32_t seed : {1U, 0x80000000U, 0x5EED5EEDU}) {
      Lfsr lfsr(seed, leap);
      std::vector<std::uint32_t> draws(500);
      for (std::uint32_t& draw : draws) draw = lfsr.draw();
      for (const int doubled : {1, 2}) {  // by Frobenius the lags may be doubled
        for (std::size_t n = static_cast<std::size_t>(degree) * doubled; n < draws.size(); ++n) {
          std::uint32_t predicted = 0;
          for (const int lag : lags) predicted ^= draws[n - static_cast<std::size_t>(lag) * doubled];
          ASSERT_EQ(predicted, draws[n]) << "leap " << leap << " draw " << n << " lags times " << doubled;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mantissa

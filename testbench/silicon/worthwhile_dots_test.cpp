// Operands that are worth measuring do what they aim at.
#include "sim/silicon/worthwhile_dots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/format/convert.hpp"
#include "models/format/exact.hpp"

namespace mantissa::silicon {
namespace {

std::vector<double> products(const WorthwhileDot& dot, const Format& a, const Format& b) {
  std::vector<double> values;
  for (std::size_t i = 0; i < dot.a.size(); ++i)
    values.push_back(to_double(dot.a[i], a) * to_double(dot.b[i], b));
  return values;
}

TEST(WorthwhileDots, AreFiniteAndDoWhatTheyAimAt) {
  for (const Format& format : {formats::e4m3, formats::e5m2}) {
    int subnormal = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const WorthwhileDot dot = worthwhile_dot(format, format, 32, 1, i);
      ASSERT_EQ(dot.a.size(), 32U);
      ASSERT_EQ(dot.b.size(), 32U);
      const std::vector<double> values = products(dot, format, format);
      double sum = 0;
      double magnitudes = 0;
      double largest = 0;
      double smallest = INFINITY;
      for (const double value : values) {
        ASSERT_TRUE(std::isfinite(value)) << i;
        sum += value;
        magnitudes += std::abs(value);
        largest = std::max(largest, std::abs(value));
        if (value != 0) smallest = std::min(smallest, std::abs(value));
      }
      switch (dot.aim) {
        case Aim::ordinary:
          EXPECT_LT(largest, 1e3);
          break;
        case Aim::alignment:
          EXPECT_GT(largest / smallest, 0x1p9) << i;
          break;
        case Aim::cancellation:
          EXPECT_LT(std::abs(sum), 0.7 * magnitudes) << i;
          break;
        case Aim::subnormals:
          subnormal += static_cast<int>(std::count_if(dot.a.begin(), dot.a.end(), [&](std::uint8_t code) {
            return (code & format.magnitude_mask()) >> format.mantissa_bits == 0;
          }));
          break;
        case Aim::overflow:
          EXPECT_GT(magnitudes, 65504.0) << i;
          break;
      }
    }
    EXPECT_GT(subnormal, 500);
  }
}

TEST(WorthwhileDots, FollowFromSeedAndNumberAlone) {
  const auto dot = [](std::uint64_t seed, std::uint64_t index) {
    return worthwhile_dot(formats::e4m3, formats::e5m2, 16, seed, index);
  };
  EXPECT_EQ(dot(1, 9).a, dot(1, 9).a);
  EXPECT_EQ(dot(1, 9).start, dot(1, 9).start);
  EXPECT_NE(dot(1, 9).a, dot(2, 9).a);
  EXPECT_NE(dot(1, 9).a, dot(1, 14).a);
}

}  // namespace
}  // namespace mantissa::silicon

// The bias gradient against a straight loop over the fp32_add unit, in the order that ARITHMETIC.md 4 names.
#include "models/mac/bias_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

struct Shape {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t spatial;
};

std::vector<std::uint32_t> straight(const std::vector<float>& g, const Shape& shape) {
  std::vector<std::uint32_t> sums;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    std::uint32_t sum = 0;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      for (std::int64_t s = 0; s < shape.spatial; ++s) {
        sum = fp32_add(sum, fp32_bits(g[(b * shape.channels + c) * shape.spatial + s])).code;
      }
    }
    sums.push_back(sum);
  }
  return sums;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> codes;
  codes.reserve(values.size());
  for (const float value : values) codes.push_back(fp32_bits(value));
  return codes;
}

// Gradients over many binades, so that another order or a wider sum would give other bits.
std::vector<float> gradients(const Shape& shape, std::mt19937& random) {
  std::normal_distribution<float> exponent(-20.0F, 8.0F);
  std::vector<float> g(shape.batch * shape.channels * shape.spatial);
  for (float& x : g) x = std::exp2(exponent(random)) * ((random() & 1) != 0 ? -1.0F : 1.0F);
  return g;
}

TEST(BiasGradient, IsTheStraightLoop) {
  std::mt19937 random(1);
  for (const Shape shape : {Shape{1, 1, 1}, Shape{5, 3, 7}, Shape{4, 8, 49}, Shape{3, 17, 25},
                            Shape{64, 10, 1}, Shape{2, 64, 196}, Shape{1, 9, 1000}}) {
    const std::vector<float> g = gradients(shape, random);
    EXPECT_EQ(bits(bias_gradient(g, shape.channels, shape.spatial)), straight(g, shape))
        << shape.batch << " x " << shape.channels << " x " << shape.spatial;
  }
}

TEST(BiasGradient, OrderIsBatchThenSpace) {
  // 2^24 + 1 + 1: from the left each 1 is a tie to even and is lost.
  const std::vector<float> g = {16777216.0F, 1.0F, 1.0F, -16777216.0F};
  EXPECT_EQ(bias_gradient(g, 1, 4), std::vector<float>{0.0F});
  EXPECT_EQ(bias_gradient(g, 1, 1), std::vector<float>{0.0F});
  EXPECT_EQ(bias_gradient(g, 2, 1), (std::vector<float>{16777216.0F, -16777215.0F}));
}

TEST(BiasGradient, SpecialValuesMeetTheRulesOfFp32) {
  const float inf = std::numeric_limits<float>::infinity();
  const Shape shape{2, 9, 2};
  std::vector<float> g(36, -0.0F);  // (+0) + (-0) = +0
  g[0] = inf;
  g[18] = -inf;
  g[2] = -std::numeric_limits<float>::quiet_NaN();
  g[16] = std::numeric_limits<float>::max();
  g[17] = std::numeric_limits<float>::max();
  const std::vector<std::uint32_t> sums = bits(bias_gradient(g, 9, 2));
  EXPECT_EQ(sums, straight(g, shape));
  EXPECT_EQ(sums[0], 0x7FC00000U);
  EXPECT_EQ(sums[1], 0x7FC00000U);
  EXPECT_EQ(sums[2], 0U);
  EXPECT_EQ(sums[8], 0x7F800000U);
}

TEST(BiasGradient, NoBatchesGiveZeros) {
  EXPECT_EQ(bias_gradient({}, 3, 4), (std::vector<float>{0.0F, 0.0F, 0.0F}));
}

TEST(BiasGradient, RefusesWhatIsNotWholeBatches) {
  const std::vector<float> g(12);
  EXPECT_THROW(bias_gradient(g, 5, 1), std::invalid_argument);
  EXPECT_THROW(bias_gradient(g, 3, 8), std::invalid_argument);
  EXPECT_THROW(bias_gradient(g, 0, 4), std::invalid_argument);
  EXPECT_THROW(bias_gradient(g, 4, -3), std::invalid_argument);
  EXPECT_THROW(bias_gradient(g, std::int64_t{1} << 62, 4), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// Batch norms whose sums are cut into parts (ARITHMETIC.md 8, "Parts"), against plain hardware floats.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/norm/batch_norm.hpp"
#include "models/norm/range_bn.hpp"
#include "testbench/models/norm/channel_data.hpp"
#include "testbench/models/norm/straight_range_bn.hpp"

namespace mantissa {
namespace {

using test::bits_of;
using test::expect_equals_straight;
using test::gaussian;
using test::StraightSum;

// The law's table: what the ones after 2^24 come to.
TEST(NormParts, WorkedByHand) {
  const std::vector<float> x = {0x1p24F, 0, 1, 0, 1, 0, 1, 0};
  struct Row {
    std::int64_t parts;
    float sum, mean, range;
  };
  for (const Row& row :
       {Row{1, 0x1p24F, 0x1p21F, 0x1p22F}, Row{2, 0x1p24F + 2, 0x1p21F + 0.25F, 0x1p22F + 0.5F},
        Row{4, 0x1p24F, 0x1p21F, 0x1p22F}}) {
    const RangeBnConfig config{.chunks = 4, .parts = row.parts};
    RangeBnRegisters plain(8, config);
    plain.constant = 1;
    plain.epsilon = 0;
    const RangeBnSaved saved = range_bn_statistics(x, plain);
    EXPECT_EQ(saved.mean, row.mean) << row.parts;
    EXPECT_EQ(saved.inv, 1 / row.range) << row.parts;
    EXPECT_EQ(channel_mean(x, row.parts), row.mean) << row.parts;
    EXPECT_EQ(saved.argmax, (std::vector<std::int64_t>{0, 2, 4, 6})) << row.parts;
    EXPECT_EQ(gradient_sums(x, x, 1, 0, 1, row.parts).g, row.sum) << row.parts;
    std::vector<float> y(8);
    EXPECT_EQ(batch_norm_forward(x, 1, 0, y, row.parts).mean, row.mean) << row.parts;
  }
}

// A channel with now and then what sums must not stumble over.
std::vector<float> odd_channel(std::mt19937& engine, std::size_t n) {
  std::vector<float> x = gaussian(n, static_cast<std::uint32_t>(engine()), 0.3F, 2.0F);
  const std::uint32_t kind = engine() % 4;
  for (float& value : x) {
    if (engine() % 5 == 0) value = std::round(value);  // ties, and zeros of both signs
    if (kind == 1 && engine() % 4 == 0) value *= 0x1p22F;
    if (kind == 2 && engine() % 20 == 0) value = std::numeric_limits<float>::quiet_NaN();
    if (kind == 3 && engine() % 10 == 0) value = std::copysign(std::numeric_limits<float>::infinity(), value);
  }
  return x;
}

TEST(NormParts, RangeBnEqualsPlainFloatsForAllPartsThatFit) {
  std::mt19937 engine(1);
  int compared = 0;
  for (const std::size_t n : {4, 6, 8, 24, 36, 64, 240}) {
    for (std::int64_t chunks = 1; chunks <= static_cast<std::int64_t>(n) / 2; ++chunks) {
      for (std::int64_t parts = 1; parts <= static_cast<std::int64_t>(n) / 2; ++parts) {
        if (n % chunks != 0 || n % parts != 0 || (parts % chunks != 0 && chunks % parts != 0)) continue;
        SCOPED_TRACE(std::to_string(n) + " in " + std::to_string(chunks) + ", " + std::to_string(parts));
        const std::vector<float> x = odd_channel(engine, n);
        expect_equals_straight(x, odd_channel(engine, n), 0.75F, -0.3F, {.chunks = chunks, .parts = parts});
        if (HasFatalFailure()) return;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 250);
}

TEST(NormParts, ChangeBits) {
  const std::vector<float> x = gaussian(4096, 3);
  std::vector<float> y(4096);
  const RangeBnSaved one = range_bn_forward(x, 1, 0, {.chunks = 16}, y);
  const RangeBnSaved eight = range_bn_forward(x, 1, 0, {.chunks = 16, .parts = 8}, y);
  EXPECT_NE(one.mean, eight.mean);
  EXPECT_EQ(one.argmax, eight.argmax);
  // One chunk has no sum of extremes.
  EXPECT_EQ(range_bn_forward(x, 1, 0, {}, y).inv, range_bn_forward(x, 1, 0, {.parts = 8}, y).inv);
}

void expect_standard(const std::vector<float>& x, const std::vector<float>& g, std::size_t parts) {
  const std::size_t n = x.size();
  const float rn = 1.0F / static_cast<float>(n);
  const float gamma = 0.8F;
  const float beta = 0.1F;
  StraightSum sum(n, parts);
  StraightSum squares(n, parts);
  for (std::size_t i = 0; i < n; ++i) sum.add(i, x[i]);
  const float mean = sum.total() * rn;
  for (std::size_t i = 0; i < n; ++i) squares.add(i, (x[i] - mean) * (x[i] - mean));
  const float inv = 1.0F / std::sqrt(squares.total() * rn + 1e-5F);
  std::vector<float> y(n);
  const BatchNormSaved saved = batch_norm_forward(x, gamma, beta, y, static_cast<std::int64_t>(parts));
  ASSERT_EQ(bits_of(saved.mean), bits_of(mean));
  ASSERT_EQ(bits_of(saved.variance), bits_of(squares.total() * rn));
  ASSERT_EQ(bits_of(saved.inv), bits_of(inv));

  StraightSum sg(n, parts);
  StraightSum sgx(n, parts);
  StraightSum sh(n, parts);
  StraightSum shx(n, parts);
  for (std::size_t i = 0; i < n; ++i) {
    const float xhat = (x[i] - mean) * inv;
    ASSERT_EQ(bits_of(y[i]), bits_of(std::fma(xhat, gamma, beta))) << i;
    sg.add(i, g[i]);
    sgx.add(i, g[i] * xhat);
    sh.add(i, gamma * g[i]);
    shx.add(i, (gamma * g[i]) * xhat);
  }
  std::vector<float> dx(n);
  const NormGradients gradients =
      batch_norm_backward(x, g, gamma, saved, dx, static_cast<std::int64_t>(parts));
  ASSERT_EQ(bits_of(gradients.gamma), bits_of(sgx.total()));
  ASSERT_EQ(bits_of(gradients.beta), bits_of(sg.total()));
  for (std::size_t i = 0; i < n; ++i) {
    const float xhat = (x[i] - mean) * inv;
    const float expected = ((gamma * g[i] - sh.total() * rn) - xhat * (shx.total() * rn)) * inv;
    ASSERT_EQ(bits_of(dx[i]), bits_of(expected)) << i;
  }
}

TEST(NormParts, StandardBatchNormEqualsPlainFloatsForAllPartsThatFit) {
  std::mt19937 engine(2);
  for (const std::size_t n : {4, 6, 36, 64, 240}) {
    for (std::size_t parts = 1; parts <= n / 2; ++parts) {
      if (n % parts != 0) continue;
      SCOPED_TRACE(std::to_string(n) + " in " + std::to_string(parts));
      for (int i = 0; i < 4; ++i) expect_standard(odd_channel(engine, n), odd_channel(engine, n), parts);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(NormParts, RefusesWhatDoesNotFit) {
  const std::vector<float> x(12);
  std::vector<float> y(12);
  for (const std::int64_t parts : {-1, 0, 5, 12}) {
    EXPECT_THROW(range_bn_forward(x, 1, 0, {.parts = parts}, y), std::invalid_argument) << parts;
    EXPECT_THROW(batch_norm_forward(x, 1, 0, y, parts), std::invalid_argument) << parts;
    EXPECT_THROW(batch_norm_backward(x, x, 1, {}, y, parts), std::invalid_argument) << parts;
  }
  // Parts of four and chunks of six overlap.
  EXPECT_THROW(range_bn_forward(x, 1, 0, {.chunks = 2, .parts = 3}, y), std::invalid_argument);
  EXPECT_NO_THROW(range_bn_forward(x, 1, 0, {.chunks = 2, .parts = 6}, y));
  const RangeBnSaved saved = range_bn_forward(x, 1, 0, {.chunks = 2}, y);
  EXPECT_THROW(range_bn_backward(x, x, 1, saved, {.chunks = 2, .parts = 3}, y), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

// Range BN over tensors: bits against plain hardware floats.
#include "models/norm/range_bn_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "testbench/models/norm/range_bn_layer.hpp"
#include "testbench/models/norm/straight_range_bn.hpp"

namespace mantissa {
namespace {

using test::bits_of;
using test::channel_of;
using test::int8_mode;
using test::Layer;
using test::random_layer;
using test::Result;
using test::run;

void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected,
                      const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(bits_of(actual[i]), bits_of(expected[i])) << what << ' ' << i;
  }
}

// ---- The 8-bit contract in plain hardware floats.

// There and back through 8 bits; a stochastic rounding of element i takes its draw's low r bits.
std::vector<float> straight_eight_bits(const std::vector<float>& values, Rounding rounding = Rounding::rne(),
                                       const DrawSource& draws = {}) {
  const int r = rounding.random_bits;
  float min = INFINITY;
  float max = -INFINITY;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  const float scale = std::max((max - min) / 255.0F, 1e-8F);
  const float inverse = 1.0F / scale;
  std::vector<float> back;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float steps = (values[i] - min) * inverse;
    float q = std::nearbyint(steps);
    if (rounding == Rounding::rna()) q = std::round(steps);
    if (rounding == Rounding::rnz()) q = std::ceil(steps - 0.5F);
    if (r != 0) {
      const auto lane = static_cast<std::uint64_t>(draws.lanes);
      const std::uint32_t draw = draws.lane(i % lane, i / lane).draw() & ((1U << r) - 1U);
      const double fraction = std::floor(std::ldexp(steps - std::floor(steps), r));
      q = std::floor(steps) + (fraction + draw >= std::ldexp(1.0, r) ? 1.0F : 0.0F);
    }
    q = std::isnan(steps) ? 0.0F : std::clamp(q, 0.0F, 255.0F);
    back.push_back(q * scale + min);
  }
  return back;
}

void expect_int8_equals_straight(const Layer& layer, const RangeBnConfig& channel, Rounding rounding,
                                 const DrawSource& draws) {
  const NormShape& shape = layer.shape;
  const Result actual = run(layer, {channel, NormPrecision::int8, rounding}, draws);
  const float c = test::mpfr_range_constant(shape.batch * shape.spatial / channel.chunks, channel.constant);

  const std::vector<float> x = straight_eight_bits(layer.x);
  const std::vector<float> g = straight_eight_bits(layer.g, rounding, draws);
  const std::vector<float> gamma = straight_eight_bits(layer.gamma);
  const std::vector<float> beta = straight_eight_bits(layer.beta);
  std::vector<test::Straight> statistics;
  std::vector<float> inverses;
  for (std::int64_t i = 0; i < shape.channels; ++i) {
    statistics.push_back(test::straight_statistics(channel_of(x, shape, i), channel.chunks, c));
    inverses.push_back(statistics.back().inv);
  }
  inverses = straight_eight_bits(inverses);

  expect_same_bits(actual.saved.x, x, "saved x");
  expect_same_bits(actual.saved.gamma, gamma, "saved gamma");
  for (std::int64_t i = 0; i < shape.channels; ++i) {
    SCOPED_TRACE("channel " + std::to_string(i));
    test::Straight& expected = statistics[i];
    expected.inv = inverses[i];
    const std::vector<float> stream = channel_of(x, shape, i);
    ASSERT_EQ(bits_of(actual.saved.channels[i].mean), bits_of(expected.mean));
    ASSERT_EQ(bits_of(actual.saved.channels[i].inv), bits_of(expected.inv));
    expect_same_bits(channel_of(actual.y, shape, i),
                     test::straight_normalise(stream, expected, gamma[i], beta[i]), "y");
    float dgamma = 0.0F;
    float dbeta = 0.0F;
    expect_same_bits(
        channel_of(actual.dx, shape, i),
        test::straight_backward(stream, channel_of(g, shape, i), gamma[i], expected, c, dgamma, dbeta), "dx");
    ASSERT_EQ(bits_of(actual.gradients.gamma[i]), bits_of(dgamma));
    ASSERT_EQ(bits_of(actual.gradients.beta[i]), bits_of(dbeta));
  }
}

TEST(RangeBnTensor, EightBitsEqualPlainFloats) {
  std::uint32_t seed = 1000;
  for (const RangeConstant constant : {RangeConstant::paper, RangeConstant::reference}) {
    for (const std::int64_t chunks : {1, 4}) {
      for (const NormShape& shape : {NormShape{4, 3, 6}, NormShape{8, 1, 1}, NormShape{16, 10, 1},
                                     NormShape{1, 5, 24}, NormShape{2, 7, 36}}) {
        for (const float sigma : {1.0F, 1e-4F, 3e4F, 1e30F}) {
          const Layer layer = random_layer(shape, seed += 10, sigma);
          const DrawSource draws{.run_seed = seed, .stream = 0x106, .lanes = 5};
          const Rounding stochastic = Rounding::sr(1 + static_cast<int>(seed / 10 % 16));
          expect_int8_equals_straight(layer, {constant, chunks}, stochastic, draws);
          expect_int8_equals_straight(layer, {constant, chunks}, Rounding::rna(), {});
          expect_int8_equals_straight(layer, {constant, chunks}, Rounding::rnz(), {});
          if (HasFatalFailure()) FAIL() << "seed " << seed;
        }
      }
    }
  }
}

TEST(RangeBnTensor, EightBitsTakeWhatCannotBeRepresented) {
  Layer layer = random_layer({2, 3, 5}, 77);
  layer.x[3] = INFINITY;
  layer.x[9] = -INFINITY;
  layer.x[11] = NAN;
  layer.x[12] = NAN;
  layer.g[0] = NAN;
  layer.g[1] = -INFINITY;
  layer.beta[2] = NAN;
  const DrawSource draws{.run_seed = 5, .stream = 0x106};
  expect_int8_equals_straight(layer, {}, Rounding::sr(8), draws);
  const Result result = run(layer, int8_mode, draws);
  EXPECT_EQ(result.saved.invalid, 3U);
  EXPECT_EQ(result.gradients.invalid, 1U);
  for (const float value : result.y) EXPECT_TRUE(std::isfinite(value));
  for (const float value : result.dx) EXPECT_TRUE(std::isfinite(value));

  // The distance from the minimum to the maximum is not an FP32 number.
  layer.x[0] = 3e38F;
  layer.x[1] = -3e38F;
  for (const float value : run(layer, int8_mode, draws).y) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(RangeBnTensor, ConstantsStayAsTheyAre) {
  Layer layer = random_layer({4, 3, 8}, 31);
  std::fill(layer.gamma.begin(), layer.gamma.end(), 1.0F);
  std::fill(layer.beta.begin(), layer.beta.end(), -0.3F);
  std::fill(layer.x.begin(), layer.x.end(), 2.5F);
  const Result result = run(layer, int8_mode, {});
  expect_same_bits(result.saved.gamma, layer.gamma, "gamma");
  expect_same_bits(result.saved.x, layer.x, "x");
  expect_same_bits(result.y, std::vector<float>(result.y.size(), -0.3F), "y");
}

// ---- The FP32 mode, and what a shape means.

TEST(RangeBnTensor, Fp32EqualsThePerChannelFunctions) {
  for (const std::int64_t chunks : {1, 4}) {
    for (const NormShape& shape : {NormShape{4, 3, 6}, NormShape{16, 10, 1}, NormShape{1, 5, 24}}) {
      const Layer layer = random_layer(shape, 300 + static_cast<std::uint32_t>(shape.batch));
      const RangeBnConfig config{RangeConstant::reference, chunks};
      const Result actual = run(layer, {.channel = config}, {});
      EXPECT_EQ(actual.saved.invalid + actual.gradients.invalid, 0U);
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const std::vector<float> x = channel_of(layer.x, shape, c);
        std::vector<float> y(x.size());
        std::vector<float> dx(x.size());
        const RangeBnSaved saved = range_bn_forward(x, layer.gamma[c], layer.beta[c], config, y);
        const NormGradients gradients =
            range_bn_backward(x, channel_of(layer.g, shape, c), layer.gamma[c], saved, config, dx);
        expect_same_bits(channel_of(actual.y, shape, c), y, "y");
        expect_same_bits(channel_of(actual.dx, shape, c), dx, "dx");
        EXPECT_EQ(actual.saved.channels[c].inv, saved.inv);
        EXPECT_EQ(actual.saved.channels[c].argmax, saved.argmax);
        EXPECT_EQ(actual.gradients.gamma[c], gradients.gamma);
        EXPECT_EQ(actual.gradients.beta[c], gradients.beta);
      }
    }
  }
}

TEST(RangeBnTensor, Fp32SpreadsANanOverItsChannelOnly) {
  Layer layer = random_layer({2, 2, 4}, 12);
  layer.x[9] = NAN;
  const Result result = run(layer, {}, {});
  EXPECT_TRUE(std::isnan(result.saved.channels[0].inv));
  for (const float value : channel_of(result.y, layer.shape, 0)) EXPECT_TRUE(std::isnan(value));
  for (const float value : channel_of(result.y, layer.shape, 1)) EXPECT_FALSE(std::isnan(value));
}

std::vector<float> channels_last(const std::vector<float>& tensor, const NormShape& shape) {
  std::vector<float> moved(tensor.size());
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      for (std::int64_t s = 0; s < shape.spatial; ++s) {
        moved[(b * shape.spatial + s) * shape.channels + c] =
            tensor[(b * shape.channels + c) * shape.spatial + s];
      }
    }
  }
  return moved;
}

TEST(RangeBnTensor, ChannelsLastIsAShapeToo) {
  const Layer first = random_layer({3, 4, 10}, 51);
  Layer last = first;
  last.shape = {30, 4, 1};
  last.x = channels_last(first.x, first.shape);
  last.g = channels_last(first.g, first.shape);
  for (const NormPrecision precision : {NormPrecision::fp32, NormPrecision::int8}) {
    // With rne no draw depends on the order.
    const RangeBnTensorConfig config{{.chunks = 2}, precision, Rounding::rne()};
    const Result a = run(first, config, {});
    const Result b = run(last, config, {});
    expect_same_bits(b.y, channels_last(a.y, first.shape), "y");
    expect_same_bits(b.dx, channels_last(a.dx, first.shape), "dx");
  }
}

// ---- Errors.

TEST(RangeBnTensor, RefusesWhatContradictsTheShape) {
  const std::vector<float> x(24);
  const std::vector<float> per_channel(3);
  std::vector<float> y(24);
  const auto forward = [&](std::span<const float> in, const NormShape& shape, std::span<const float> gamma,
                           std::span<const float> beta, std::span<float> out) {
    range_bn_tensor_forward(in, shape, gamma, beta, {}, out);
  };
  const std::span<const float> all(x);
  const std::span<const float> three(per_channel);
  EXPECT_NO_THROW(forward(all, {2, 3, 4}, three, three, y));
  EXPECT_THROW(forward(all.first(23), {2, 3, 4}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {2, 3, 4}, three, three, std::span(y).first(23)), std::invalid_argument);
  EXPECT_THROW(forward(all, {2, 3, 4}, three.first(2), three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {2, 3, 4}, three, three.first(2), y), std::invalid_argument);
  EXPECT_THROW(forward(all, {4, 3, 4}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {0, 3, 4}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {2, 0, 4}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {2, 3, 0}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {-2, 3, -4}, three, three, y), std::invalid_argument);
  EXPECT_THROW(forward(all, {std::int64_t{1} << 40, 3, std::int64_t{1} << 40}, three, three, y),
               std::invalid_argument);
  // Channels of one element have no range.
  EXPECT_THROW(forward(three, {1, 3, 1}, three, three, std::span(y).first(3)), std::invalid_argument);
  EXPECT_THROW(range_bn_tensor_forward(x, {2, 3, 4}, three, three, {.channel = {.chunks = 3}}, y),
               std::invalid_argument);
}

TEST(RangeBnTensor, BackwardRefusesWhatForwardDidNotSave) {
  const Layer layer = random_layer({2, 3, 4}, 5);
  std::vector<float> y(24);
  RangeBnTensorSaved saved =
      range_bn_tensor_forward(layer.x, layer.shape, layer.gamma, layer.beta, int8_mode, y);
  const std::span<const float> g(layer.g);
  EXPECT_NO_THROW(range_bn_tensor_backward(saved, g, {}, y));
  EXPECT_THROW(range_bn_tensor_backward({}, g, {}, y), std::invalid_argument);
  EXPECT_THROW(range_bn_tensor_backward(saved, g.first(23), {}, y), std::invalid_argument);
  EXPECT_THROW(range_bn_tensor_backward(saved, g, {}, std::span(y).first(23)), std::invalid_argument);
  EXPECT_THROW(range_bn_tensor_backward(saved, g, {.lanes = 0}, y), std::invalid_argument);
  EXPECT_THROW(range_bn_tensor_backward(saved, g, {.leap = 8}, y), std::invalid_argument);  // sr:16

  const auto broken = [&](auto damage) {
    RangeBnTensorSaved other = saved;
    damage(other);
    EXPECT_THROW(range_bn_tensor_backward(other, g, {}, y), std::invalid_argument);
  };
  broken([](RangeBnTensorSaved& s) { s.x.pop_back(); });
  broken([](RangeBnTensorSaved& s) { s.gamma.pop_back(); });
  broken([](RangeBnTensorSaved& s) { s.channels.push_back(s.channels[0]); });
  broken([](RangeBnTensorSaved& s) { s.channels[1].argmax[0] = 8; });
}

}  // namespace
}  // namespace mantissa

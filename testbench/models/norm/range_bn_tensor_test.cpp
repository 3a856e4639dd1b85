// Range BN over tensors: bits against plain hardware floats, the noise and the bias that 8 bits bring.
#include "models/norm/range_bn_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "testbench/models/norm/channel_data.hpp"
#include "testbench/models/norm/straight_range_bn.hpp"

namespace mantissa {
namespace {

using test::bits_of;
using test::gaussian;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr RangeBnTensorConfig int8_mode{.channel = {}, .precision = NormPrecision::int8};

struct Layer {
  NormShape shape;
  std::vector<float> x, g, gamma, beta;
};

// Channels of unlike mean and spread, so that their inverses differ.
Layer random_layer(const NormShape& shape, std::uint32_t seed, float sigma = 1.0F) {
  const std::size_t n = shape.batch * shape.channels * shape.spatial;
  Layer layer{shape, gaussian(n, seed), gaussian(n, seed + 1, 0.01F, 0.1F),
              gaussian(shape.channels, seed + 2, 1.0F, 0.2F), gaussian(shape.channels, seed + 3, 0.0F, 0.3F)};
  for (std::size_t i = 0; i < n; ++i) {
    const auto c = static_cast<float>(static_cast<std::int64_t>(i) / shape.spatial % shape.channels);
    layer.x[i] = sigma * (layer.x[i] * (1.0F + 0.25F * c) + 0.1F * c);
  }
  return layer;
}

struct Result {
  RangeBnTensorSaved saved;
  RangeBnTensorGradients gradients;
  std::vector<float> y, dx;
};

Result run(const Layer& layer, const RangeBnTensorConfig& config, const DrawSource& draws) {
  Result result;
  result.y.resize(layer.x.size());
  result.dx.resize(layer.x.size());
  result.saved = range_bn_tensor_forward(layer.x, layer.shape, layer.gamma, layer.beta, config, result.y);
  result.gradients = range_bn_tensor_backward(result.saved, layer.g, draws, result.dx);
  return result;
}

std::vector<float> channel_of(const std::vector<float>& tensor, const NormShape& shape, std::int64_t c) {
  std::vector<float> stream;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    if (static_cast<std::int64_t>(i) / shape.spatial % shape.channels == c) stream.push_back(tensor[i]);
  }
  return stream;
}

void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected,
                      const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(bits_of(actual[i]), bits_of(expected[i])) << what << ' ' << i;
  }
}

// ---- The 8-bit contract in plain hardware floats.

// There and back through 8 bits; r = 0 rounds to nearest, otherwise element i takes its draw's low r bits.
std::vector<float> straight_eight_bits(const std::vector<float>& values, int r = 0,
                                       const DrawSource& draws = {}) {
  float min = inf;
  float max = -inf;
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

void expect_int8_equals_straight(const Layer& layer, const RangeBnConfig& channel, int r,
                                 const DrawSource& draws) {
  const NormShape& shape = layer.shape;
  const Result actual = run(layer, {channel, NormPrecision::int8, Rounding::sr(r)}, draws);
  const float c = test::mpfr_range_constant(shape.batch * shape.spatial / channel.chunks, channel.constant);

  const std::vector<float> x = straight_eight_bits(layer.x);
  const std::vector<float> g = straight_eight_bits(layer.g, r, draws);
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
          expect_int8_equals_straight(layer, {constant, chunks}, 1 + static_cast<int>(seed / 10 % 16), draws);
          if (HasFatalFailure()) FAIL() << "seed " << seed;
        }
      }
    }
  }
}

TEST(RangeBnTensor, EightBitsTakeWhatCannotBeRepresented) {
  Layer layer = random_layer({2, 3, 5}, 77);
  layer.x[3] = inf;
  layer.x[9] = -inf;
  layer.x[11] = nan;
  layer.x[12] = nan;
  layer.g[0] = nan;
  layer.g[1] = -inf;
  layer.beta[2] = nan;
  const DrawSource draws{.run_seed = 5, .stream = 0x106};
  expect_int8_equals_straight(layer, {}, 8, draws);
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
  layer.x[9] = nan;
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

// ---- What 8 bits cost.

double squared(double value) { return value * value; }

double noise_ratio_db(const std::vector<float>& exact, const std::vector<float>& noisy,
                      const std::vector<bool>& left_out = {}) {
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!left_out.empty() && left_out[i]) continue;
    signal += squared(exact[i]);
    noise += squared(static_cast<double>(noisy[i]) - exact[i]);
  }
  return 10 * std::log10(signal / noise);
}

double step_of(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (static_cast<double>(*high) - *low) / 255;
}

// A uniform error of one step has a variance of step^2/12 to nearest and step^2/6 stochastically.
struct ExpectedNoise {
  double y_db = 0;
  double dx_db = 0;
};

// y = gamma * inv * (x - mean) + beta; dx = inv * (gamma * g - mean) but at the ends of the range.
ExpectedNoise expected_noise(const Layer& layer, const Result& fp32, const std::vector<bool>& is_end) {
  const NormShape& shape = layer.shape;
  std::vector<float> inverses;
  for (const RangeBnSaved& saved : fp32.saved.channels) inverses.push_back(saved.inv);
  const double x_step = step_of(layer.x);
  const double g_step = step_of(layer.g);
  const double gamma_step = step_of(layer.gamma);
  const double beta_step = step_of(layer.beta);
  const double inv_step = step_of(inverses);
  double y_signal = 0;
  double y_noise = 0;
  double dx_signal = 0;
  double dx_noise = 0;
  for (std::size_t i = 0; i < layer.x.size(); ++i) {
    const std::int64_t c = static_cast<std::int64_t>(i) / shape.spatial % shape.channels;
    const double inverse = inverses[c];
    const double gamma = layer.gamma[c];
    const double centred = layer.x[i] - fp32.saved.channels[c].mean;
    y_signal += squared(fp32.y[i]);
    y_noise += (squared(gamma * inverse * x_step) + squared(gamma * centred * inv_step) +
                squared(inverse * centred * gamma_step) + squared(beta_step)) /
               12;
    if (is_end[i]) continue;
    dx_signal += squared(fp32.dx[i]);
    dx_noise += squared(gamma * inverse * g_step) / 6 +
                (squared(inverse * layer.g[i] * gamma_step) + squared(gamma * layer.g[i] * inv_step)) / 12;
  }
  return {10 * std::log10(y_signal / y_noise), 10 * std::log10(dx_signal / dx_noise)};
}

// Elements that either run corrected because they made a range.
std::vector<bool> ends_of_ranges(const Result& a, const Result& b) {
  const NormShape& shape = a.saved.shape;
  std::vector<bool> is_end(a.y.size());
  for (const Result* result : {&a, &b}) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      for (const std::int64_t i :
           {result->saved.channels[c].argmax[0], result->saved.channels[c].argmin[0]}) {
        is_end[((i / shape.spatial) * shape.channels + c) * shape.spatial + i % shape.spatial] = true;
      }
    }
  }
  return is_end;
}

TEST(RangeBnTensor, EightBitsHaveTheNoiseOfTheirSteps) {
  const Layer layer = random_layer({8, 6, 64}, 90);
  const DrawSource draws{.run_seed = 3, .stream = 0x106};
  const Result fp32 = run(layer, {}, draws);
  const Result int8 = run(layer, int8_mode, draws);
  const std::vector<bool> is_end = ends_of_ranges(fp32, int8);
  const ExpectedNoise expected = expected_noise(layer, fp32, is_end);
  const double y_db = noise_ratio_db(fp32.y, int8.y);
  const double dx_db = noise_ratio_db(fp32.dx, int8.dx, is_end);
  EXPECT_NEAR(y_db, expected.y_db, 1.0);
  EXPECT_NEAR(dx_db, expected.dx_db, 1.0);
}

// Quantization makes ties: the end of a range may move to another element, but only within one step of it.
TEST(RangeBnTensor, EightBitsFindAnEndOfTheRangeWithinOneStep) {
  const Layer layer = random_layer({8, 32, 16}, 90);
  const Result fp32 = run(layer, {}, {});
  const Result int8 = run(layer, int8_mode, {});
  const double step = step_of(layer.x) * 1.0001;  // FP32 rounds between the steps
  int moved = 0;
  for (std::int64_t c = 0; c < layer.shape.channels; ++c) {
    const std::vector<float> x = channel_of(layer.x, layer.shape, c);
    const RangeBnSaved& exact = fp32.saved.channels[c];
    const RangeBnSaved& found = int8.saved.channels[c];
    EXPECT_GE(x[found.argmax[0]], x[exact.argmax[0]] - step) << c;
    EXPECT_LE(x[found.argmin[0]], x[exact.argmin[0]] + step) << c;
    moved += found.argmax != exact.argmax ? 1 : 0;
    moved += found.argmin != exact.argmin ? 1 : 0;
  }
  EXPECT_GT(moved, 0);
}

// Given the saved operands, backward is linear in g, so the mean over many draws of g is the result of the
// exact g.
class MeanOverSeeds {
 public:
  explicit MeanOverSeeds(std::size_t n) : sum_(n), square_(n) {}
  void add(const std::vector<float>& values) {
    ++count_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i] += values[i];
      square_[i] += static_cast<double>(values[i]) * values[i];
    }
  }
  // Distances from the expectation in standard errors of the mean, the largest and the mean square.
  struct Distance {
    double largest = 0;
    double mean_square = 0;
  };
  Distance from(const std::vector<float>& expected) const {
    Distance distance;
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const double mean = sum_[i] / count_;
      const double error = std::sqrt(std::max(square_[i] / count_ - mean * mean, 0.0) / count_);
      const double off = std::abs(mean - expected[i]) / error;
      distance.largest = std::max(distance.largest, off);
      distance.mean_square += off * off / static_cast<double>(sum_.size());
    }
    return distance;
  }

 private:
  std::vector<double> sum_, square_;
  double count_ = 0;
};

TEST(RangeBnTensor, GradientsAreUnbiasedInG) {
  const Layer layer = random_layer({4, 4, 8}, 60);
  const NormShape& shape = layer.shape;
  std::vector<float> y(layer.x.size());
  std::vector<float> dx(layer.x.size());
  const RangeBnTensorSaved saved =
      range_bn_tensor_forward(layer.x, shape, layer.gamma, layer.beta, int8_mode, y);
  MeanOverSeeds mean_dx(layer.x.size());
  MeanOverSeeds mean_dgamma(shape.channels);
  MeanOverSeeds mean_dbeta(shape.channels);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const RangeBnTensorGradients gradients =
        range_bn_tensor_backward(saved, layer.g, {.run_seed = seed, .stream = 0x106}, dx);
    mean_dx.add(dx);
    mean_dgamma.add(gradients.gamma);
    mean_dbeta.add(gradients.beta);
  }
  RangeBnTensorSaved exact = saved;
  exact.config.precision = NormPrecision::fp32;  // the same operands, g as it is
  const RangeBnTensorGradients expected = range_bn_tensor_backward(exact, layer.g, {}, dx);
  EXPECT_LT(mean_dx.from(dx).largest, 5);
  EXPECT_NEAR(mean_dx.from(dx).mean_square, 1, 0.5);
  EXPECT_LT(mean_dgamma.from(expected.gamma).largest, 5);
  EXPECT_LT(mean_dbeta.from(expected.beta).largest, 5);
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

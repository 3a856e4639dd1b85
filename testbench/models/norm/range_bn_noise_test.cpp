// What 8 bits cost Range BN: noise, moved ends of ranges, and no bias in the gradient.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testbench/models/norm/range_bn_layer.hpp"

namespace mantissa {
namespace {

using test::channel_of;
using test::int8_mode;
using test::Layer;
using test::random_layer;
using test::Result;
using test::run;

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

TEST(RangeBnNoise, EightBitsHaveTheNoiseOfTheirSteps) {
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
TEST(RangeBnNoise, EightBitsFindAnEndOfTheRangeWithinOneStep) {
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

TEST(RangeBnNoise, GradientsAreUnbiasedInG) {
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

}  // namespace
}  // namespace mantissa

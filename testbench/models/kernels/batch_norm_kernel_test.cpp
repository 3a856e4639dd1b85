// Standard batch norm over tensors against the scalar model channel by channel, on every SIMD target.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "models/kernels/norm.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/norm_tensors.hpp"

namespace mantissa {
namespace {

struct NormPass {
  std::vector<float> gamma;
  std::vector<float> beta;
  std::vector<float> x;
  std::vector<float> g;
};

NormPass pass_of(const NormShape& shape, std::uint64_t seed, bool special) {
  const std::int64_t elements = shape.batch * shape.channels * shape.spatial;
  return {.gamma = test::activations(shape.channels, seed),
          .beta = test::activations(shape.channels, seed + 1),
          .x = test::activations(elements, seed + 2, special),
          .g = test::activations(elements, seed + 3, special)};
}

void expect_scalar_model(const NormShape& shape, const NormPass& pass, std::int64_t parts = 1) {
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      const std::string where = test::name_of(shape) + " " + target;
      std::vector<float> y(pass.x.size());
      std::vector<float> again(pass.x.size());
      std::vector<float> dx(pass.x.size());
      const auto saved = kernels::batch_norm_forward(pass.x, shape, pass.gamma, pass.beta, y, threads, parts);
      kernels::batch_norm_inference(pass.x, shape, pass.gamma, pass.beta, saved, again, threads);
      const auto gradients =
          kernels::batch_norm_backward(pass.x, pass.g, shape, pass.gamma, saved, dx, threads, parts);
      ASSERT_EQ(test::all_bits(again), test::all_bits(y)) << where;
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const auto x = test::channel_stream(pass.x, shape, c);
        const auto g = test::channel_stream(pass.g, shape, c);
        std::vector<float> out(x.size());
        const BatchNormSaved expected = batch_norm_forward(x, pass.gamma[c], pass.beta[c], out, parts);
        ASSERT_EQ(fp32_bits(saved[c].mean), fp32_bits(expected.mean)) << where << " channel " << c;
        ASSERT_EQ(fp32_bits(saved[c].inv), fp32_bits(expected.inv)) << where << " channel " << c;
        ASSERT_EQ(fp32_bits(saved[c].variance), fp32_bits(expected.variance)) << where << " channel " << c;
        ASSERT_EQ(test::all_bits(test::channel_stream(y, shape, c)), test::all_bits(out)) << where;
        const NormGradients of = batch_norm_backward(x, g, pass.gamma[c], expected, out, parts);
        ASSERT_EQ(fp32_bits(gradients[c].gamma), fp32_bits(of.gamma)) << where << " channel " << c;
        ASSERT_EQ(fp32_bits(gradients[c].beta), fp32_bits(of.beta)) << where << " channel " << c;
        ASSERT_EQ(test::all_bits(test::channel_stream(dx, shape, c)), test::all_bits(out)) << where;
      }
    }
  });
}

TEST(BatchNormKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 0;
  for (const NormShape& shape : test::norm_shapes) {
    for (const bool special : {false, true}) {
      expect_scalar_model(shape, pass_of(shape, ++seed * 10, special));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BatchNormKernel, EqualsTheScalarModelInParts) {
  std::uint64_t seed = 500;
  for (const NormShape& shape : test::norm_shapes) {
    for (const std::int64_t parts : test::some_parts(shape.per_channel())) {
      ++seed;
      expect_scalar_model(shape, pass_of(shape, seed * 10, seed % 2 == 0), parts);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BatchNormKernel, ThreadsShareLongTensorsWithoutChangingABit) {
  const NormShape shape{24, 32, 196};
  expect_scalar_model(shape, pass_of(shape, 7, false));
}

TEST(BatchNormKernel, InferenceTakesStatisticsFromElsewhere) {
  const NormShape shape{1, 3, 1};  // a single element has no variance of its own
  const std::vector<float> x = {1.0F, 2.0F, 3.0F};
  const std::vector<float> gamma = {1.0F, 0.5F, -2.0F};
  const std::vector<float> beta = {0.0F, 1.0F, 4.0F};
  const std::vector<BatchNormSaved> statistics = {
      {.mean = 1.0F, .inv = 3.0F}, {.mean = 0.0F, .inv = 2.0F}, {.mean = 1.0F, .inv = 0.5F}};
  std::vector<float> y(3);
  kernels::batch_norm_inference(x, shape, gamma, beta, statistics, y);
  EXPECT_EQ(y, (std::vector<float>{0.0F, 3.0F, 2.0F}));
}

TEST(BatchNormKernel, RefusesLengthsThatContradictTheShape) {
  const NormShape shape{2, 3, 4};
  const std::vector<float> x(24);
  const std::vector<float> each(3);
  const std::vector<float> few(2);
  std::vector<float> y(24);
  std::vector<float> short_y(23);
  const std::vector<BatchNormSaved> saved(3);
  EXPECT_THROW(kernels::batch_norm_forward(few, shape, each, each, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_forward(x, shape, few, each, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_forward(x, shape, each, few, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_forward(x, shape, each, each, short_y), std::invalid_argument);
  std::vector<float> single(3);
  EXPECT_THROW(kernels::batch_norm_forward(each, {1, 3, 1}, each, each, single), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_forward(x, shape, each, each, y, 1, 3), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_backward(x, x, shape, each, saved, y, 1, 8), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_backward(x, few, shape, each, saved, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_backward(x, x, shape, few, saved, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_backward(x, x, shape, each, {}, y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_backward(x, x, shape, each, saved, short_y), std::invalid_argument);
  EXPECT_THROW(kernels::batch_norm_inference(x, shape, each, each, {}, y), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

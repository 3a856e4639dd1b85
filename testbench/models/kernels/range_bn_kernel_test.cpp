// Range BN over tensors against the scalar model, on every SIMD target.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "models/kernels/norm.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/norm_tensors.hpp"

namespace mantissa {
namespace {

void expect_same(const RangeBnTensorSaved& saved, const RangeBnTensorSaved& expected,
                 const std::string& where) {
  ASSERT_EQ(saved.shape, expected.shape) << where;
  ASSERT_EQ(saved.config.channel.chunks, expected.config.channel.chunks) << where;
  ASSERT_EQ(saved.config.precision, expected.config.precision) << where;
  ASSERT_EQ(test::all_bits(saved.x), test::all_bits(expected.x)) << where;
  ASSERT_EQ(test::all_bits(saved.gamma), test::all_bits(expected.gamma)) << where;
  ASSERT_EQ(test::all_bits(saved.beta), test::all_bits(expected.beta)) << where;
  ASSERT_EQ(saved.inv_range.has_value(), expected.inv_range.has_value()) << where;
  if (saved.inv_range) {
    ASSERT_EQ(fp32_bits(saved.inv_range->min), fp32_bits(expected.inv_range->min)) << where;
    ASSERT_EQ(fp32_bits(saved.inv_range->max), fp32_bits(expected.inv_range->max)) << where;
  }
  ASSERT_EQ(saved.invalid, expected.invalid) << where;
  ASSERT_EQ(saved.channels.size(), expected.channels.size()) << where;
  for (std::size_t c = 0; c < saved.channels.size(); ++c) {
    const RangeBnSaved& one = saved.channels[c];
    const RangeBnSaved& other = expected.channels[c];
    ASSERT_EQ(fp32_bits(one.mean), fp32_bits(other.mean)) << where << " channel " << c;
    ASSERT_EQ(fp32_bits(one.inv), fp32_bits(other.inv)) << where << " channel " << c;
    ASSERT_EQ(one.argmax, other.argmax) << where << " channel " << c;
    ASSERT_EQ(one.argmin, other.argmin) << where << " channel " << c;
  }
}

std::vector<std::uint32_t> correction_bits(const RangeBnTensorGradients& gradients) {
  std::vector<std::uint32_t> bits;
  for (const RangeBnCorrection& correction : gradients.corrections) {
    bits.push_back(fp32_bits(correction.mean_h));
    bits.push_back(fp32_bits(correction.t));
  }
  return bits;
}

void expect_scalar_model(const NormShape& shape, const RangeBnTensorConfig& config, std::uint64_t seed,
                         bool special) {
  const std::int64_t elements = shape.batch * shape.channels * shape.spatial;
  const auto x = test::activations(elements, seed, special);
  const auto g = test::activations(elements, seed + 1, special);
  const auto gamma = test::activations(shape.channels, seed + 2);
  const auto beta = test::activations(shape.channels, seed + 3);
  const DrawSource draws{.run_seed = seed, .stream = 3, .lanes = seed % 2 == 0 ? 16 : 5};
  std::vector<float> expected_y(x.size());
  std::vector<float> expected_dx(x.size());
  const auto expected = range_bn_tensor_forward(x, shape, gamma, beta, config, expected_y);
  const auto expected_gradients = range_bn_tensor_backward(expected, g, draws, expected_dx);
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      const std::string where = test::name_of(shape) + " " + target;
      std::vector<float> y(x.size());
      std::vector<float> dx(x.size());
      const auto saved = kernels::range_bn_tensor_forward(x, shape, gamma, beta, config, y, threads);
      expect_same(saved, expected, where);
      ASSERT_EQ(test::all_bits(y), test::all_bits(expected_y)) << where;
      const auto gradients = kernels::range_bn_tensor_backward(saved, g, draws, dx, threads);
      ASSERT_EQ(test::all_bits(dx), test::all_bits(expected_dx)) << where;
      ASSERT_EQ(test::all_bits(gradients.gamma), test::all_bits(expected_gradients.gamma)) << where;
      ASSERT_EQ(test::all_bits(gradients.beta), test::all_bits(expected_gradients.beta)) << where;
      ASSERT_EQ(correction_bits(gradients), correction_bits(expected_gradients)) << where;
      ASSERT_EQ(gradients.invalid, expected_gradients.invalid) << where;
    }
  });
}

TEST(RangeBnKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 0;
  for (const NormShape& shape : test::norm_shapes) {
    for (const NormPrecision precision : {NormPrecision::fp32, NormPrecision::int8}) {
      for (const std::int64_t chunks : {1, 2, 3, 7}) {
        const std::int64_t n = shape.batch * shape.spatial;
        if (n % chunks != 0 || n / chunks < 2) continue;
        for (const bool special : {false, true}) {
          const RangeBnTensorConfig config{.channel = {.chunks = chunks}, .precision = precision};
          expect_scalar_model(shape, config, ++seed * 10, special);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(RangeBnKernel, EqualsTheScalarModelInParts) {
  std::uint64_t seed = 500;
  for (const NormShape& shape : test::norm_shapes) {
    const std::int64_t n = shape.per_channel();
    for (const std::int64_t chunks : test::some_parts(n)) {
      for (const std::int64_t parts : test::some_parts(n)) {
        if (chunks % parts != 0 && parts % chunks != 0) continue;
        const NormPrecision precision = ++seed % 3 == 0 ? NormPrecision::int8 : NormPrecision::fp32;
        const RangeBnTensorConfig config{.channel = {.chunks = chunks, .parts = parts},
                                         .precision = precision};
        expect_scalar_model(shape, config, seed * 10, seed % 2 == 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(RangeBnKernel, ThreadsShareLongTensorsWithoutChangingABit) {
  const NormShape shape{24, 32, 49};
  expect_scalar_model(shape, {.channel = {.constant = RangeConstant::reference, .chunks = 4}}, 1, false);
  expect_scalar_model(shape, {.channel = {.chunks = 8}, .precision = NormPrecision::int8}, 2, false);
}

TEST(RangeBnKernel, RefusesWhatTheScalarModelRefuses) {
  const NormShape shape{2, 3, 4};
  const std::vector<float> x(24);
  const std::vector<float> each(3);
  std::vector<float> y(24);
  std::vector<float> few(23);
  EXPECT_THROW(kernels::range_bn_tensor_forward(few, shape, each, each, {}, y), std::invalid_argument);
  EXPECT_THROW(kernels::range_bn_tensor_forward(x, shape, few, each, {}, y), std::invalid_argument);
  EXPECT_THROW(kernels::range_bn_tensor_forward(x, shape, each, few, {}, y), std::invalid_argument);
  EXPECT_THROW(kernels::range_bn_tensor_forward(x, shape, each, each, {}, few), std::invalid_argument);
  const RangeBnTensorConfig uneven{.channel = {.chunks = 3}};
  EXPECT_THROW(kernels::range_bn_tensor_forward(x, shape, each, each, uneven, y), std::invalid_argument);
  const RangeBnTensorConfig overlapping{.channel = {.chunks = 2, .parts = 3}};
  EXPECT_THROW(kernels::range_bn_tensor_forward(x, shape, each, each, overlapping, y), std::invalid_argument);
  RangeBnTensorSaved saved = kernels::range_bn_tensor_forward(x, shape, each, each, {}, y);
  EXPECT_THROW(kernels::range_bn_tensor_backward(saved, few, {}, y), std::invalid_argument);
  EXPECT_THROW(kernels::range_bn_tensor_backward(saved, x, {}, few), std::invalid_argument);
  saved.channels[1].argmax[0] = 8;
  EXPECT_THROW(kernels::range_bn_tensor_backward(saved, x, {}, y), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

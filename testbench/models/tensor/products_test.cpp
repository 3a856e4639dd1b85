// Products of encoded tensors against the scalar models on matrices that are lowered element by element.
#include "models/tensor/products.hpp"

#include <gtest/gtest.h>

#include <random>

#include "models/mac/int_gemm.hpp"
#include "models/tensor/encode.hpp"
#include "models/tensor/lowered.hpp"

namespace mantissa {
namespace {

const ConvShape shape = [] {
  ConvShape s;
  s.batch = 2;
  s.in_channels = 4;
  s.out_channels = 6;
  s.groups = 2;
  s.in = {5, 4};
  s.kernel = {3, 2};
  s.stride = {2, 1};
  s.padding = {1, 1};
  s.out = s.fitting_out();
  return s;
}();

struct Tensors {
  std::vector<float> first;
  std::vector<float> second;
};

Tensors tensors_of(Pass pass) {
  std::mt19937_64 engine(11 + static_cast<int>(pass));
  std::normal_distribution<float> normal;
  const auto some = [&](std::int64_t count) {
    std::vector<float> values(count);
    for (float& x : values) x = engine() % 4 == 0 ? 0.0F : normal(engine);
    return values;
  };
  Tensors tensors;
  tensors.first = some(pass == Pass::forward ? shape.inputs() : shape.outputs());
  tensors.second = some(pass == Pass::weight_gradient ? shape.inputs() : shape.weights());
  return tensors;
}

// The place of an output in the tensor that the pass makes, from the definition of the convolution.
std::int64_t place_of(Pass pass, std::int64_t group, std::int64_t row, std::int64_t col) {
  if (pass == Pass::weight_gradient) return (group * shape.out_group() + row) * shape.in_group() * 6 + col;
  const bool forward = pass == Pass::forward;
  const std::int64_t places = forward ? shape.out[0] * shape.out[1] : shape.in[0] * shape.in[1];
  const std::int64_t per_group = forward ? shape.out_group() : shape.in_group();
  const std::int64_t channels = forward ? shape.out_channels : shape.in_channels;
  return ((row / places) * channels + group * per_group + col) * places + row % places;
}

void expect_conv_is_golden(Pass pass, const Encoding& how, const Accumulator& accumulator, bool decoded) {
  const Tensors tensors = tensors_of(pass);
  EncodedTensor first;
  EncodedTensor second;
  encode(tensors.first, how, {}, first, {.decoded = decoded});
  encode(tensors.second, how, {}, second, {.decoded = decoded});
  GemmOptions options{
      .accumulator = accumulator, .rows = 4, .draws = {.run_seed = 3, .stream = 5, .lanes = 4}};
  const auto [m, n, k] = sides_of(shape, pass);
  std::vector<float> sums(shape.groups * m * n);
  conv(shape, pass, first, second, options, sums, 2);

  for (std::int64_t group = 0; group < shape.groups; ++group) {
    const EncodedTensor a = lowered(first, GemmSide::a, shape, pass, group, {0, m, 0, k}, 1);
    const EncodedTensor b = lowered(second, GemmSide::b, shape, pass, group, {0, k, 0, n}, 1);
    std::vector<float> expected(m * n);
    if (how.type.is_integer()) {
      int_gemm({m, n, k, a.as<EncodedTensor::Integers>().matrix(), b.as<EncodedTensor::Integers>().matrix()},
               expected);
    } else {
      std::vector<std::uint8_t> a_codes(m * k);
      std::vector<std::uint8_t> b_codes(k * n);
      for (std::int64_t i = 0; i < m * k; ++i) a_codes[i] = static_cast<std::uint8_t>(a.element(i));
      for (std::int64_t i = 0; i < k * n; ++i) b_codes[i] = static_cast<std::uint8_t>(b.element(i));
      options.first_tile = group * ((m + 3) / 4) * ((n + 3) / 4);
      mantissa::gemm({m, n, k, a_codes, b_codes, how.type.format(), how.type.format()}, options, expected);
    }
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t col = 0; col < n; ++col) {
        ASSERT_EQ(fp32_bits(sums[place_of(pass, group, row, col)]), fp32_bits(expected[row * n + col]))
            << name_of(pass) << " " << how.type.name() << " " << accumulator.name() << " group " << group;
      }
    }
  }
}

TEST(Products, ConvolutionsOfCodesInEveryAccumulator) {
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) {
    for (const bool decoded : {false, true}) {
      expect_conv_is_golden(pass, {.type = formats::e5m2}, {}, decoded);
      expect_conv_is_golden(pass, {.type = formats::e4m3, .scale = 3}, {.format = formats::fp16}, decoded);
      // Narrow, so that sums are rounded and the draws of the groups' tiles count.
      expect_conv_is_golden(pass, {.type = formats::e4m3},
                            {.format = Format::parse("e6m5"), .rounding = Rounding::sr(8)}, decoded);
      expect_conv_is_golden(pass, {.type = formats::e5m2}, {.kind = Accumulator::Kind::kulisch}, decoded);
    }
  }
}

TEST(Products, ConvolutionsOfIntegers) {
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
    expect_conv_is_golden(pass, {.type = ElementType::integer(8)}, {}, false);
}

TEST(Products, PairsThatNoUnitMultipliesAreRefused) {
  const Tensors tensors = tensors_of(Pass::forward);
  EncodedTensor codes;
  EncodedTensor integers;
  encode(tensors.first, {.type = formats::e5m2}, {}, codes);
  encode(tensors.second, {.type = ElementType::integer(8)}, {}, integers);
  std::vector<float> sums(shape.outputs());
  try {
    conv(shape, Pass::forward, codes, integers, {}, sums);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "no unit multiplies e5m2 by uint8");
  }
  EXPECT_THROW(conv(shape, Pass::update, codes, codes, {}, sums), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

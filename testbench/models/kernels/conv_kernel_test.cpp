// Convolutions against a chain of std::fma over the lowered matrices, on every SIMD target and with one and
// three threads.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/conv.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/conv_cases.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

using Tensor = std::vector<float>;
using Tensors = ConvTensors<float>;
constexpr Pass passes[] = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};

Tensor expected(const Tensors& t, Pass pass) {
  Tensor result(results_of(t.s, pass));
  for (std::int64_t group = 0; group < t.s.groups; ++group) {
    const LoweredPass<float> p = lowered(t, pass, group);
    for_places({p.m, p.n}, [&](std::int64_t i, std::int64_t j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum = std::fma(p.a[i * p.k + k], p.b[k * p.n + j], sum);
      if (std::isnan(sum)) sum = fp32_value(formats::fp32.nan_code());
      result[place_of(t.s, pass, group, i, j)] = sum == 0 ? 0.0F : sum;
    });
  }
  return result;
}

void run(const Tensors& t, Pass pass, Tensor& out, int threads) {
  if (pass == Pass::forward) {
    kernels::conv_forward(t.s, t.x, t.w, out, threads);
  } else if (pass == Pass::input_gradient) {
    kernels::conv_input_gradient(t.s, t.g, t.w, out, threads);
  } else {
    kernels::conv_weight_gradient(t.s, t.g, t.x, out, threads);
  }
}

std::vector<std::uint32_t> bits_of(const Tensor& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(fp32_bits(value));
  return bits;
}

void expect_all_passes(const Tensors& t) {
  for (const Pass pass : passes) {
    const std::vector<std::uint32_t> wanted = bits_of(expected(t, pass));
    on_every_target([&](const std::string& target) {
      for (const int threads : {1, 3}) {
        Tensor out(wanted.size(), -1);
        run(t, pass, out, threads);
        ASSERT_EQ(bits_of(out), wanted) << "pass " << static_cast<int>(pass) << " on " << target << ", "
                                        << threads << " threads, " << text_of(t.s);
      }
    });
  }
}

// Exponents far apart, so that every step rounds; some zeros of both signs.
Tensor numbers(std::int64_t count, Random& random, int spread) {
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  Tensor values(count);
  for (float& x : values) {
    x = std::ldexp(mantissa(random), exponent(random));
    if (random() % 8 == 0) x = random() % 2 == 0 ? 0.0F : -0.0F;
  }
  return values;
}

Tensors random_tensors(const ConvShape& shape, Random& random, int spread) {
  return {shape, numbers(shape.inputs(), random, spread), numbers(shape.weights(), random, spread),
          numbers(shape.outputs(), random, spread)};
}

TEST(Conv, PassesAreFusedChainsInTheOrderOfK) {
  Random random(11);
  for (const int spread : {3, 60}) {
    for (int i = 0; i < 150; ++i) expect_all_passes(random_tensors(random_shape(random), random, spread));
  }
}

TEST(Conv, PassesOfUsualLayers) {
  Random random(12);
  for (const ConvShape& shape : usual_shapes()) expect_all_passes(random_tensors(shape, random, 20));
}

// +0 of padding and holes times Inf is NaN, and a NaN stays, with its canonical bits.
TEST(Conv, PaddingMeetsInfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  Random random(13);
  for (int i = 0; i < 60; ++i) {
    Tensors t = random_tensors(random_shape(random), random, 3);
    for (Tensor* tensor : {&t.x, &t.w, &t.g}) {
      for (const float special : {-inf, std::bit_cast<float>(0xFFA12345U)}) {
        if (random() % 3 == 0) (*tensor)[random() % tensor->size()] = special;
      }
    }
    expect_all_passes(t);
  }
}

TEST(Conv, ProductsThatUnderflowLeavePositiveZeros) {
  const ConvShape shape =
      fitted({.batch = 2, .in_channels = 2, .out_channels = 3, .in = {4, 4}, .kernel = {3, 3}});
  expect_all_passes({shape, Tensor(shape.inputs(), -0x1p-100F), Tensor(shape.weights(), 0x1p-100F),
                     Tensor(shape.outputs(), 0x1p-100F)});
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const ConvShape shape = fitted({.in = {4, 4}, .kernel = {3, 3}});
  const Tensor x(16);
  const Tensor w(9);
  Tensor y(4);
  Tensor wrong(5);
  EXPECT_EQ(refusal([&] { kernels::conv_forward(shape, x, w, wrong); }),
            "convolution: the output should have 4 elements, not 5");
  EXPECT_EQ(refusal([&] { kernels::conv_input_gradient(shape, y, w, wrong); }),
            "convolution: the input should have 16 elements, not 5");
  EXPECT_EQ(refusal([&] { kernels::conv_weight_gradient(shape, y, x, wrong); }),
            "convolution: the weight should have 9 elements, not 5");
  ConvShape contradiction = shape;
  contradiction.out = {2, 3};
  EXPECT_EQ(refusal([&] { kernels::conv_forward(contradiction, x, w, y); }),
            "convolution: the output has size 2 along axis 1, not 3");
}

}  // namespace
}  // namespace mantissa::test

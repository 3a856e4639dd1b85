// Convolutions against matrices lowered element by element as the table of ARITHMETIC.md 4 says, and a chain
// of std::fma over them; on every SIMD target and with one to three threads.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/conv.hpp"
#include "models/random/stream.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa {
namespace {

using Tensor = std::vector<float>;
using Random = std::mt19937_64;

// x[b, c, h, w], +0 outside.
float at(const Tensor& x, std::array<std::int64_t, 4> size, std::array<std::int64_t, 4> index) {
  std::int64_t place = 0;
  for (int i = 0; i < 4; ++i) {
    if (index[i] < 0 || index[i] >= size[i]) return 0;
    place = place * size[i] + index[i];
  }
  return x[place];
}

struct Tensors {
  ConvShape s;
  Tensor x, w, g;

  float input(std::int64_t b, std::int64_t c, std::int64_t oh, std::int64_t ow, std::int64_t kr,
              std::int64_t kc) const {
    return at(x, {s.batch, s.in_channels, s.in[0], s.in[1]},
              {b, c, oh * s.stride[0] + kr * s.dilation[0] - s.padding[0],
               ow * s.stride[1] + kc * s.dilation[1] - s.padding[1]});
  }
  float weight(std::int64_t o, std::int64_t c, std::int64_t kr, std::int64_t kc) const {
    return at(w, {s.out_channels, s.in_group(), s.kernel[0], s.kernel[1]}, {o, c, kr, kc});
  }
  float gradient(std::int64_t b, std::int64_t o, std::int64_t h, std::int64_t v, std::int64_t kr,
                 std::int64_t kc) const {
    const std::int64_t row = h + s.padding[0] - kr * s.dilation[0];
    const std::int64_t col = v + s.padding[1] - kc * s.dilation[1];
    if (row % s.stride[0] != 0 || col % s.stride[1] != 0) return 0;
    return at(g, {s.batch, s.out_channels, s.out[0], s.out[1]}, {b, o, row / s.stride[0], col / s.stride[1]});
  }
};

// Calls body(i, j) for 0 <= i < size[0], 0 <= j < size[1], j fastest.
template <class Body>
void for_places(std::array<std::int64_t, 2> size, const Body& body) {
  for (std::int64_t i = 0; i < size[0]; ++i) {
    for (std::int64_t j = 0; j < size[1]; ++j) body(i, j);
  }
}

class Sum {
 public:
  void add(float a, float b) { sum_ = std::fma(a, b, sum_); }
  float result() const {
    return std::isnan(sum_) ? fp32_value(formats::fp32.nan_code()) : sum_ == 0 ? 0.0F : sum_;
  }

 private:
  float sum_ = 0;
};

Tensor expected_output(const Tensors& t) {
  const ConvShape& s = t.s;
  Tensor y;
  for_places({s.batch, s.out_channels}, [&](std::int64_t b, std::int64_t o) {
    for_places(s.out, [&](std::int64_t oh, std::int64_t ow) {
      Sum sum;
      for (std::int64_t c = 0; c < s.in_group(); ++c) {
        for_places(s.kernel, [&](std::int64_t kr, std::int64_t kc) {
          sum.add(t.input(b, o / s.out_group() * s.in_group() + c, oh, ow, kr, kc), t.weight(o, c, kr, kc));
        });
      }
      y.push_back(sum.result());
    });
  });
  return y;
}

Tensor expected_input_gradient(const Tensors& t) {
  const ConvShape& s = t.s;
  Tensor dx;
  for_places({s.batch, s.in_channels}, [&](std::int64_t b, std::int64_t c) {
    for_places(s.in, [&](std::int64_t h, std::int64_t v) {
      Sum sum;
      for (std::int64_t i = 0; i < s.out_group(); ++i) {
        const std::int64_t o = c / s.in_group() * s.out_group() + i;
        for_places(s.kernel, [&](std::int64_t kr, std::int64_t kc) {
          sum.add(t.gradient(b, o, h, v, kr, kc), t.weight(o, c % s.in_group(), kr, kc));
        });
      }
      dx.push_back(sum.result());
    });
  });
  return dx;
}

Tensor expected_weight_gradient(const Tensors& t) {
  const ConvShape& s = t.s;
  Tensor dw;
  for_places({s.out_channels, s.in_group()}, [&](std::int64_t o, std::int64_t c) {
    for_places(s.kernel, [&](std::int64_t kr, std::int64_t kc) {
      Sum sum;
      for (std::int64_t b = 0; b < s.batch; ++b) {
        for_places(s.out, [&](std::int64_t oh, std::int64_t ow) {
          sum.add(t.g[((b * s.out_channels + o) * s.out[0] + oh) * s.out[1] + ow],
                  t.input(b, o / s.out_group() * s.in_group() + c, oh, ow, kr, kc));
        });
      }
      dw.push_back(sum.result());
    });
  });
  return dw;
}

std::vector<std::uint32_t> bits_of(const Tensor& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(fp32_bits(value));
  return bits;
}

std::string text_of(const ConvShape& s) {
  std::string text = "batch " + std::to_string(s.batch) + ", channels " + std::to_string(s.in_channels) +
                     " to " + std::to_string(s.out_channels) + " in " + std::to_string(s.groups) + " groups";
  const auto add = [&](const char* name, std::array<std::int64_t, 2> size) {
    text += std::string(", ") + name + " " + std::to_string(size[0]) + " x " + std::to_string(size[1]);
  };
  add("in", s.in);
  add("kernel", s.kernel);
  add("stride", s.stride);
  add("padding", s.padding);
  add("dilation", s.dilation);
  return text;
}

void expect_all_passes(const Tensors& t) {
  const Tensor y = expected_output(t);
  const Tensor dx = expected_input_gradient(t);
  const Tensor dw = expected_weight_gradient(t);
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2, 3}) {
      const std::string where = target + ", " + std::to_string(threads) + " threads, " + text_of(t.s);
      Tensor out(y.size(), -1);
      kernels::conv_forward(t.s, t.x, t.w, out, threads);
      ASSERT_EQ(bits_of(out), bits_of(y)) << "forward on " << where;
      out.assign(dx.size(), -1);
      kernels::conv_input_gradient(t.s, t.g, t.w, out, threads);
      ASSERT_EQ(bits_of(out), bits_of(dx)) << "input gradient on " << where;
      out.assign(dw.size(), -1);
      kernels::conv_weight_gradient(t.s, t.g, t.x, out, threads);
      ASSERT_EQ(bits_of(out), bits_of(dw)) << "weight gradient on " << where;
    }
  });
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

ConvShape fitted(ConvShape shape) {
  shape.out = shape.fitting_out();
  return shape;
}

ConvShape random_shape(Random& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (;;) {
    ConvShape s;
    s.batch = pick(1, 4);
    s.groups = pick(0, 3) == 0 ? pick(2, 3) : 1;
    s.in_channels = s.groups * pick(1, s.groups == 1 ? 33 : 6);
    s.out_channels = s.groups * pick(1, s.groups == 1 ? 33 : 6);
    for (int axis = 0; axis < 2; ++axis) {
      s.in[axis] = pick(1, 17);
      s.kernel[axis] = pick(1, 5);
      s.stride[axis] = pick(0, 3) == 0 ? 3 : pick(1, 2);
      s.padding[axis] = pick(0, 4);
      s.dilation[axis] = pick(0, 2) == 0 ? pick(2, 3) : 1;
    }
    const std::array<std::int64_t, 2> span = {s.dilation[0] * (s.kernel[0] - 1) + 1,
                                              s.dilation[1] * (s.kernel[1] - 1) + 1};
    const bool fits = span[0] <= s.in[0] + 2 * s.padding[0] && span[1] <= s.in[1] + 2 * s.padding[1];
    s = fits ? fitted(s) : s;
    const std::int64_t macs = s.outputs() * s.in_group() * s.kernel[0] * s.kernel[1];
    if (fits && macs < 200'000) return s;
  }
}

TEST(Conv, PassesAreFusedChainsInTheOrderOfK) {
  Random random(11);
  for (const int spread : {3, 60}) {
    for (int i = 0; i < 150; ++i) expect_all_passes(random_tensors(random_shape(random), random, spread));
  }
}

// What networks have: 3 x 3 with padding, halving or not, shortcuts of 1 x 1, LeNet's 5 x 5, linear layers.
TEST(Conv, PassesOfUsualLayers) {
  Random random(12);
  const ConvShape shapes[] = {
      {.batch = 2, .in_channels = 1, .out_channels = 8, .in = {28, 28}, .kernel = {3, 3}, .padding = {1, 1}},
      {.batch = 3, .in_channels = 8, .out_channels = 8, .in = {28, 28}, .kernel = {3, 3}, .padding = {1, 1}},
      {.batch = 2,
       .in_channels = 8,
       .out_channels = 16,
       .in = {28, 28},
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding = {1, 1}},
      {.batch = 2, .in_channels = 8, .out_channels = 16, .in = {28, 28}, .stride = {2, 2}},
      {.batch = 5, .in_channels = 32, .out_channels = 32, .in = {7, 7}, .kernel = {3, 3}, .padding = {1, 1}},
      {.batch = 2, .in_channels = 6, .out_channels = 16, .in = {14, 14}, .kernel = {5, 5}},
      {.batch = 33, .in_channels = 70, .out_channels = 10},
      {.batch = 1, .in_channels = 17, .out_channels = 40},
  };
  for (const ConvShape& shape : shapes) expect_all_passes(random_tensors(fitted(shape), random, 20));
}

// +0 of padding and holes times Inf is NaN, and a NaN stays, with its canonical bits.
TEST(Conv, PaddingMeetsInfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  Random random(13);
  for (int i = 0; i < 60; ++i) {
    Tensors t = random_tensors(random_shape(random), random, 3);
    for (Tensor* tensor : {&t.x, &t.w, &t.g}) {
      for (int n = 0; n < 2; ++n) {
        const float special = n == 0 ? -inf : std::bit_cast<float>(0xFFA12345U);
        if (random() % 3 == 0) (*tensor)[random() % tensor->size()] = special;
      }
    }
    expect_all_passes(t);
  }
}

TEST(Conv, ProductsThatUnderflowLeavePositiveZeros) {
  const ConvShape shape =
      fitted({.batch = 2, .in_channels = 2, .out_channels = 3, .in = {4, 4}, .kernel = {3, 3}});
  const Tensors t{shape, Tensor(shape.inputs(), -0x1p-100F), Tensor(shape.weights(), 0x1p-100F),
                  Tensor(shape.outputs(), 0x1p-100F)};
  expect_all_passes(t);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const ConvShape shape = fitted({.in = {4, 4}, .kernel = {3, 3}});
  const Tensor x(16);
  const Tensor w(9);
  Tensor y(4);
  Tensor wrong(5);
  EXPECT_EQ(test::refusal([&] { kernels::conv_forward(shape, x, w, wrong); }),
            "convolution: the output should have 4 elements, not 5");
  EXPECT_EQ(test::refusal([&] { kernels::conv_input_gradient(shape, y, w, wrong); }),
            "convolution: the input should have 16 elements, not 5");
  EXPECT_EQ(test::refusal([&] { kernels::conv_weight_gradient(shape, y, x, wrong); }),
            "convolution: the weight should have 9 elements, not 5");
  ConvShape contradiction = shape;
  contradiction.out = {2, 3};
  EXPECT_EQ(test::refusal([&] { kernels::conv_forward(contradiction, x, w, y); }),
            "convolution: the output has size 2 along axis 1, not 3");
}

}  // namespace
}  // namespace mantissa

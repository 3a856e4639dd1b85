// Integer convolutions against the scalar integer GEMM on the lowered matrices, on every SIMD target and with
// one and three threads.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/int_conv.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/conv_cases.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

using Integers = std::vector<std::uint16_t>;
using kernels::IntTensor;

// How the integers of x, w and g are to be read.
struct Registers {
  int x_bits = 8, w_bits = 8, g_bits = 8;
  float scale = 0.013F;
  float min = -1.7F;
};

struct IntCase {
  ConvTensors<std::uint16_t> t;
  Registers registers;

  IntTensor tensor(const Integers& q, int bits, std::uint16_t zero) const {
    // Not the same for all three, so that mixing them up shows.
    const auto part = static_cast<float>(q.size() % 7 + 1);
    return {{q, bits, registers.scale / part, registers.min * part}, zero};
  }
  IntTensor x() const { return tensor(t.x, registers.x_bits, t.x_zero); }
  IntTensor w() const { return tensor(t.w, registers.w_bits, 0); }
  IntTensor g() const { return tensor(t.g, registers.g_bits, t.g_zero); }
};

void run(const IntCase& c, Pass pass, std::vector<float>& out, int threads) {
  if (pass == Pass::forward) {
    kernels::int_conv_forward(c.t.s, c.x(), c.w(), out, threads);
  } else if (pass == Pass::input_gradient) {
    kernels::int_conv_input_gradient(c.t.s, c.g(), c.w(), out, threads);
  } else {
    kernels::int_conv_weight_gradient(c.t.s, c.g(), c.x(), out, threads);
  }
}

std::vector<std::uint32_t> expected(const IntCase& c, Pass pass) {
  const ConvShape& s = c.t.s;
  std::vector<std::uint32_t> bits(results_of(s, pass));
  for (std::int64_t group = 0; group < s.groups; ++group) {
    const LoweredPass<std::uint16_t> p = lowered(c.t, pass, group);
    IntMatrix a = (pass == Pass::forward ? c.x() : c.g()).values;
    IntMatrix b = (pass == Pass::weight_gradient ? c.x() : c.w()).values;
    a.q = p.a;
    b.q = p.b;
    std::vector<float> out(p.m * p.n);
    int_gemm({p.m, p.n, p.k, a, b}, out);
    for_places({p.m, p.n}, [&](std::int64_t i, std::int64_t j) {
      bits[place_of(s, pass, group, i, j)] = fp32_bits(out[i * p.n + j]);
    });
  }
  return bits;
}

void expect_pass(const IntCase& c, Pass pass) {
  const std::vector<std::uint32_t> wanted = expected(c, pass);
  on_every_target([&](const std::string& target) {
    for (const int threads : {1, 3}) {
      std::vector<float> out(wanted.size(), -1);
      run(c, pass, out, threads);
      std::vector<std::uint32_t> bits;
      bits.reserve(out.size());
      for (const float value : out) bits.push_back(fp32_bits(value));
      ASSERT_EQ(bits, wanted) << "pass " << static_cast<int>(pass) << " on " << target << ", " << threads
                              << " threads, " << text_of(c.t.s);
    }
  });
}

std::uint16_t random_integer(Random& random, int bits) {
  return static_cast<std::uint16_t>(random() & ((1U << bits) - 1));
}

IntCase random_case(const ConvShape& shape, const Registers& registers, Random& random) {
  IntCase c{{shape, Integers(shape.inputs()), Integers(shape.weights()), Integers(shape.outputs())},
            registers};
  for (std::uint16_t& q : c.t.x) q = random_integer(random, registers.x_bits);
  for (std::uint16_t& q : c.t.w) q = random_integer(random, registers.w_bits);
  for (std::uint16_t& q : c.t.g) q = random_integer(random, registers.g_bits);
  c.t.x_zero = random_integer(random, registers.x_bits);
  c.t.g_zero = random_integer(random, registers.g_bits);
  return c;
}

TEST(IntConv, PassesEqualTheScalarGemm) {
  Random random(21);
  for (int i = 0; i < 100; ++i) {
    const IntCase c = random_case(random_shape(random), {}, random);
    for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) expect_pass(c, pass);
  }
}

TEST(IntConv, PassesOfUsualLayers) {
  Random random(22);
  for (const ConvShape& shape : usual_shapes()) {
    const IntCase c = random_case(shape, {}, random);
    for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) expect_pass(c, pass);
  }
}

// Gradients of 16 bits, as the weight gradient takes them where errors are bifurcated; then weights, then x.
TEST(IntConv, OneOperandMayHaveSixteenBits) {
  Random random(23);
  for (int i = 0; i < 30; ++i) {
    const ConvShape shape = random_shape(random);
    const IntCase wide_g = random_case(shape, {.g_bits = 16}, random);
    expect_pass(wide_g, Pass::weight_gradient);
    expect_pass(wide_g, Pass::input_gradient);
    const IntCase wide_w = random_case(shape, {.w_bits = 16}, random);
    expect_pass(wide_w, Pass::forward);
    expect_pass(wide_w, Pass::input_gradient);
    const IntCase wide_x = random_case(shape, {.x_bits = 16}, random);
    expect_pass(wide_x, Pass::forward);
    expect_pass(wide_x, Pass::weight_gradient);
  }
}

// The longest sums of largest products that FP32 adds exactly, and longer ones: 28 channels of 3 x 3 are 252
// products, and 9 rows of 28 outputs as many.
TEST(IntConv, LargestSumsAreExact) {
  for (const std::int64_t channels : {28, 29}) {
    const ConvShape shape = fitted({.batch = 1,
                                    .in_channels = channels,
                                    .out_channels = channels,
                                    .in = {10, 28},
                                    .kernel = {3, 3},
                                    .padding = {1, 1}});
    const auto all = [](std::int64_t count) { return Integers(count, 255); };
    IntCase c{{shape, all(shape.inputs()), all(shape.weights()), all(shape.outputs()), 255, 255}, {}};
    // Odd ends: the last bit is what a rounded sum loses.
    c.t.x.front() = c.t.g.front() = c.t.w.front() = 254;
    for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) expect_pass(c, pass);
  }
}

// Ranges that overflow make scale Inf: every output is the canonical NaN.
TEST(IntConv, InfiniteScalesGiveNan) {
  Random random(24);
  const ConvShape shape = fitted(
      {.batch = 2, .in_channels = 3, .out_channels = 5, .in = {5, 4}, .kernel = {3, 2}, .padding = {1, 1}});
  const IntCase c = random_case(shape, {.scale = std::numeric_limits<float>::infinity()}, random);
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) expect_pass(c, pass);
}

TEST(IntConv, RefusesWhatIntMacDoesNotHave) {
  Random random(25);
  const ConvShape shape = fitted({.in = {4, 4}, .kernel = {3, 3}});
  std::vector<float> y(4);
  const auto forward = [&](const IntCase& c) {
    return refusal([&] { kernels::int_conv_forward(c.t.s, c.x(), c.w(), y); });
  };
  EXPECT_EQ(forward(random_case(shape, {.x_bits = 16, .w_bits = 16}, random)),
            "integer GEMM of 16 x 16 bits; int_mac multiplies 8 by 8 or 16");
  IntCase wide = random_case(shape, {}, random);
  wide.t.x[3] = 256;
  EXPECT_EQ(forward(wide), "integer GEMM: an element of A does not fit 8 bits");
  IntCase zero = random_case(shape, {}, random);
  zero.t.x_zero = 256;
  EXPECT_EQ(forward(zero), "integer convolution: zero is 256, which does not fit 8 bits");
  IntCase sized = random_case(shape, {}, random);
  sized.t.x.push_back(0);
  EXPECT_EQ(forward(sized), "convolution: the input should have 16 elements, not 17");
}

}  // namespace
}  // namespace mantissa::test

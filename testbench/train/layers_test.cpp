// Nodes without weights, the loss, and the schedule.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/train/pointwise.hpp"
#include "sim/train/schedule.hpp"
#include "sim/train/softmax.hpp"

namespace mantissa::train {
namespace {

TEST(Pointwise, Relu) {
  const Tensor x{{-1.0F, -0.0F, 0.0F, 2.0F, NAN}, Grid{formats::e5m2, 0}};
  Tensor y;
  relu_forward(x, y, 1);
  EXPECT_EQ(y.values[0], 0);
  EXPECT_FALSE(std::signbit(y.values[1]));
  EXPECT_EQ(y.values[3], 2);
  EXPECT_TRUE(std::isnan(y.values[4]));
  EXPECT_EQ(y.grid, x.grid);
  Tensor g{{5, 6, 7, 8, 9}};
  relu_backward(y, g, 1);
  EXPECT_EQ(g.values, (std::vector<float>{0, 0, 0, 8, 0}));
}

Node pool(NodeKind kind, ValueShape in, ValueShape out, std::int64_t kernel) {
  Node node;
  node.kind = kind;
  node.kernel = kernel;
  node.stride = kernel;
  node.in_shape = in;
  node.out_shape = out;
  return node;
}

TEST(Pointwise, MaxPoolTakesTheFirstAmongEquals) {
  const Node node = pool(NodeKind::max_pool, {1, 2, 4}, {1, 1, 2}, 2);
  const Tensor x{{1, 7, 3, 3,  //
                  7, 2, 3, 1}};
  Tensor y;
  std::vector<std::int32_t> choice;
  max_pool_forward(node, 1, x, y, choice, 1);
  EXPECT_EQ(y.values, (std::vector<float>{7, 3}));
  Tensor dx;
  max_pool_backward(node, 1, Tensor{{10, 20}}, choice, dx, 1);
  EXPECT_EQ(dx.values, (std::vector<float>{0, 10, 20, 0, 0, 0, 0, 0}));
}

TEST(Pointwise, AveragePool) {
  const Node node = pool(NodeKind::average_pool, {2, 1, 4}, {2, 1, 1}, 4);
  Tensor y;
  average_pool_forward(node, 1, Tensor{{1, 2, 3, 4, 8, 8, 8, 0}}, y, 1);
  EXPECT_EQ(y.values, (std::vector<float>{2.5, 6}));
  Tensor dx;
  average_pool_backward(node, 1, Tensor{{4, 8}}, dx, 1);
  EXPECT_EQ(dx.values, (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(Softmax, PortableFunctionsAreAsGoodAsTheLibrarys) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> exponents(-700, 700);
  for (int i = 0; i < 100000; ++i) {
    const double x = exponents(engine);
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 4e-15) << x;
    const double y = std::exp(x);
    EXPECT_NEAR(portable_log(y), std::log(y), 4e-16 * std::fabs(std::log(y)) + 1e-15) << y;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(-800), 0);
  EXPECT_TRUE(std::isnan(portable_exp(NAN)));
  EXPECT_TRUE(std::isinf(portable_log(0)));
}

TEST(Softmax, GradientIsTheLosssDerivative) {
  const std::vector<float> scores = {1.5F, -2, 0.25F, 3, 3, -1};
  const std::vector<std::uint8_t> labels = {2, 0};
  std::vector<float> gradient(scores.size());
  const BatchLoss loss = softmax_cross_entropy(scores, labels, 8, gradient);
  EXPECT_EQ(loss.correct, 1);  // the first of two equal scores wins
  for (std::size_t i = 0; i < scores.size(); ++i) {
    constexpr float h = 1.0F / 1024;
    std::vector<float> moved = scores;
    moved[i] += h;
    const double up = softmax_cross_entropy(moved, labels, 1, {}).loss;
    moved[i] = scores[i] - h;
    const double down = softmax_cross_entropy(moved, labels, 1, {}).loss;
    // The gradient is of the mean over two images, times the scale.
    EXPECT_NEAR(static_cast<double>(gradient[i]), (up - down) / (2 * static_cast<double>(h)) * 8 / 2, 1e-5)
        << i;
  }
}

TEST(Softmax, NaNAndSizes) {
  const std::vector<std::uint8_t> label = {0};
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(std::vector<float>{1, NAN}, label, 1, {}).loss));
  EXPECT_THROW(softmax_cross_entropy(std::vector<float>{1, 2, 3}, std::vector<std::uint8_t>{0, 1}, 1, {}),
               std::invalid_argument);
}

TEST(Schedule, OneCycle) {
  const Schedule schedule{.peak = 1, .steps = 100};
  EXPECT_FLOAT_EQ(schedule.at(0), 0.04F);
  EXPECT_FLOAT_EQ(schedule.at(15), 0.52F);
  EXPECT_FLOAT_EQ(schedule.at(30), 1);
  EXPECT_FLOAT_EQ(schedule.at(65), 0.50005F);
  EXPECT_FLOAT_EQ(schedule.at(100), 1e-4F);
}

}  // namespace
}  // namespace mantissa::train

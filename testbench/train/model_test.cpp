// The backward pass against finite differences of the forward pass, and what a recipe does to which layer.
#include "sim/train/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "sim/train/softmax.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

constexpr int batch = 12;

class ToyBatch {
 public:
  explicit ToyBatch(const Recipe& recipe, std::uint64_t seed = 3) : model(test::toy_network(), recipe, seed) {
    const FashionMnist data = test::toy_data(batch, 1);
    for (const std::uint8_t pixel : data.training.pixels) images.push_back(normalised_pixels()[pixel]);
    labels = data.training.labels;
  }
  double loss() {
    model.image().values = images;
    return softmax_cross_entropy(model.forward(step), labels, 1, {}).loss / batch;
  }
  void gradients() {
    model.image().values = images;
    const std::span<const float> scores = model.forward(step);
    std::vector<float> gradient(scores.size());
    softmax_cross_entropy(scores, labels, std::ldexp(1.0, model.recipe().loss_scale.exponent), gradient);
    model.backward(step, gradient);
  }
  Model model;
  Step step;
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
};

// Along a random direction of all elements of one parameter, where single elements drown in FP32's rounding.
void check_directions(const Recipe& recipe, double tolerance) {
  ToyBatch toy(recipe);
  toy.gradients();
  std::mt19937_64 engine(7);
  std::normal_distribution<float> normal;
  for (Parameter& parameter : toy.model.parameters()) {
    const std::vector<float> start = parameter.value.values;
    const std::vector<float> gradient = parameter.gradient;
    std::vector<float> direction(start.size());
    double slope = 0;
    double length = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      direction[i] = normal(engine);
      slope += static_cast<double>(direction[i]) * static_cast<double>(gradient[i]);
      length += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
    }
    constexpr float h = 1.0F / 8192;  // small, because of the kinks of ReLU and pooling
    const auto moved = [&](float by) {
      for (std::size_t i = 0; i < start.size(); ++i) parameter.value.values[i] = start[i] + by * direction[i];
      return toy.loss();
    };
    const double measured = (moved(h) - moved(-h)) / (2 * static_cast<double>(h));
    parameter.value.values = start;
    EXPECT_NEAR(measured, slope, tolerance * std::sqrt(length)) << parameter.name;
    EXPECT_GT(length, 0) << parameter.name;
  }
}

TEST(Model, GradientsAreTheLosssDerivatives) { check_directions(test::toy_recipe("fp32"), 0.05); }

TEST(Model, GradientsOfRangeBatchNorm) {
  Recipe recipe = test::toy_recipe("fp32");
  recipe.norm.kind = NormRule::Kind::range;
  check_directions(recipe, 0.05);
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return product / std::sqrt(aa * bb);
}

// The mean over some networks: one choice of max pooling that turns out otherwise changes a tiny one's
// gradient a lot.
TEST(Model, EightBitGradientsPointTheSameWay) {
  constexpr int seeds = 8;
  Recipe exact = test::toy_recipe("fp32");
  for (const char* name : {"fp8", "fp8-hybrid", "int8-rangebn"}) {
    Recipe recipe = test::toy_recipe(name);
    recipe.exempt_first = recipe.exempt_last = false;
    recipe.norm.range.channel.chunks = 1;
    exact.norm = recipe.norm;
    exact.norm.range.precision = NormPrecision::fp32;
    std::map<std::string, double> sum;
    for (int seed = 1; seed <= seeds; ++seed) {
      ToyBatch reference(exact, seed);
      ToyBatch toy(recipe, seed);
      toy.step.refresh = true;
      reference.gradients();
      toy.gradients();
      for (std::size_t i = 0; i < toy.model.parameters().size(); ++i) {
        const Parameter& parameter = toy.model.parameters()[i];
        if (!parameter.master) continue;
        sum[parameter.name] += cosine(parameter.gradient, reference.model.parameters()[i].gradient);
      }
    }
    ASSERT_EQ(sum.size(), 5U);
    for (const auto& [parameter, cosines] : sum) EXPECT_GT(cosines / seeds, 0.8) << name << " " << parameter;
  }
}

TEST(Model, ExemptLayersAreFp32) {
  Recipe recipe = test::toy_recipe("fp8");
  recipe.exempt_first = true;
  recipe.exempt_last = true;
  Model model(test::toy_network(), recipe, 1);
  const std::vector<GemmLayer*> layers = model.gemm_layers();
  ASSERT_EQ(layers.size(), 5U);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool edge = i == 0 || i + 1 == layers.size();
    EXPECT_EQ(layers[i]->plan().input().format.type, edge ? ElementType() : ElementType(formats::e5m2)) << i;
  }
}

TEST(Model, MastersAreFp16WhereTheRecipeSaysSo) {
  Model model(test::toy_network(), test::toy_recipe("fp8"), 1);
  for (const Parameter& parameter : model.parameters()) {
    EXPECT_EQ(parameter.half.empty(), !parameter.master) << parameter.name;
    for (const float value : parameter.value.values) {
      if (!parameter.master) break;
      // 11 bits of significand, and nothing below FP16's smallest subnormal.
      const double steps = std::ldexp(static_cast<double>(value), 10 - std::max(std::ilogb(value), -14));
      EXPECT_TRUE(value == 0 || steps == std::floor(steps)) << parameter.name << " " << value;
    }
  }
}

TEST(Model, RefusesARecipeThatIsForDataSets) {
  EXPECT_NE(mantissa::test::refusal([&] {
              Model(test::toy_network(), test::toy_recipe("zipml"), 1);
            }).find("recipe zipml describes how a data set is sampled"),
            std::string::npos);
}

}  // namespace
}  // namespace mantissa::train

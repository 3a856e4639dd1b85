// Synthetic traces: valid, as distributed as they say, the same from the same seed.
#include "sim/trace/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/random/normal.hpp"
#include "sim/trace/finite.hpp"
#include "sim/trace/gradient.hpp"
#include "sim/trace/statistics.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

using trace::Role;
using trace::Trace;

class Synthetic : public testing::Test {
 protected:
  std::string write(const trace::Network& network, const trace::SyntheticNumbers& numbers = {},
                    trace::DType dtype = trace::DType::f32, int threads = 1) {
    std::string path = scratch_.path() + "/" + std::to_string(files_++);
    trace::SyntheticJob job;
    job.path = path;
    job.network = network;
    job.numbers = numbers;
    job.dtype = dtype;
    job.origin = "test";
    job.threads = threads;
    trace::write_synthetic(job);
    return path;
  }
  Scratch scratch_;
  int files_ = 0;
};

TEST_F(Synthetic, EveryNetworkIsATrace) {
  for (const trace::Network& network : {trace::resnet18(1, 32, 32), trace::resnet50(1, 32, 40),
                                        trace::mlp(4, {20, 30, 10}), trace::transformer_block(2, 8, 16)}) {
    const Trace trace(write(network));
    EXPECT_NO_THROW(check_finite(trace));
    EXPECT_EQ(trace.steps(), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(trace.origin(), "test");
    ASSERT_EQ(trace.layers().size(), network.size());
    for (std::size_t i = 0; i < network.size(); ++i) {
      const trace::Layer& layer = trace.layers()[i];
      EXPECT_EQ(layer.name, network[i].layer.name);
      EXPECT_EQ(layer.input_gradient, network[i].layer.input_gradient);
      EXPECT_EQ(trace.shape(0, layer, Role::grad_output), network[i].output);
    }
  }
}

TEST_F(Synthetic, NumbersAreDistributedAsAskedFor) {
  const trace::Network network = trace::mlp(512, {400, 300, 200});
  const Trace trace(write(network, {.seed = 5, .sparsity = 0.6, .mu = -5, .sigma = 1.5}));
  const trace::Layer& first = trace.layers()[0];
  const trace::Layer& second = trace.layers()[1];
  const auto statistics = [&](const trace::Layer& layer, Role role) {
    return trace::statistics_of(trace.file(), *trace.find(0, layer, role));
  };
  EXPECT_NEAR(statistics(first, Role::input).mean, 0, 0.01);
  EXPECT_NEAR(statistics(first, Role::input).deviation, 1, 0.01);
  EXPECT_NEAR(statistics(first, Role::weight).deviation, std::sqrt(2.0 / 400), 0.001);
  // Half-normal with zeros: the mean is (1 - S) sqrt(2 / pi).
  EXPECT_NEAR(statistics(second, Role::input).zero_share(), 0.6, 0.005);
  EXPECT_NEAR(statistics(second, Role::input).mean, 0.4 * std::sqrt(2 / std::acos(-1.0)), 0.005);
  for (const float value : trace.values(0, second, Role::input)) ASSERT_GE(value, 0);

  const GradientReport masked = trace::describe_gradient(trace.values(0, first, Role::grad_output));
  const GradientReport dense = trace::describe_gradient(trace.values(0, second, Role::grad_output));
  EXPECT_NEAR(masked.zero_share, 0.6, 0.005);
  EXPECT_EQ(dense.zero_share, 0);
  for (const GradientReport& gradient : {masked, dense}) {
    EXPECT_NEAR(gradient.mu, -5, 0.02);
    EXPECT_NEAR(gradient.sigma, 1.5, 0.02);
    EXPECT_LT(gradient.ks_lognormal, 0.01);
  }
  EXPECT_LT(std::fabs(statistics(second, Role::grad_output).mean), 0.001);  // both signs
}

// ln 4 = 1.38629, ln 112 = 4.71850, ln 8 / 2 = 1.03972, ln 2 = 0.69315.
TEST_F(Synthetic, MuOfALayerFollowsItsImagesAndPlaces) {
  const trace::Network images = trace::resnet18(4, 224, 224);
  const trace::Network tokens = trace::transformer_block(2, 8, 16);
  EXPECT_NEAR(trace::usual_mu(images[0]), -9 - 1.38629 - 4.71850, 1e-5);  // 4 x 64 x 112 x 112
  EXPECT_NEAR(trace::usual_mu(images[1]), -9 - 1.38629 - 4.71850, 1e-5);
  EXPECT_NEAR(trace::usual_mu(images.back()), -9 - 1.38629, 1e-5);        // 4 x 1000
  EXPECT_NEAR(trace::usual_mu(tokens[0]), -9 - 0.69315 - 1.03972, 1e-5);  // 2 x 8 x 16

  const trace::Network network = trace::resnet18(2, 64, 64);
  const Trace usual(write(network));
  const Trace given(write(network, {.mu = -5}));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, network.size() - 1}) {
    const auto mu_in = [&](const Trace& trace) {
      return trace::describe_gradient(trace.values(0, trace.layers()[i], Role::grad_output)).mu;
    };
    EXPECT_NEAR(mu_in(usual), trace::usual_mu(network[i]), 0.2);
    EXPECT_NEAR(mu_in(given), -5, 0.2);
  }
}

// But for the last layer, whose gradient comes from the loss at once.
TEST_F(Synthetic, LargestGradientsAreLikeThoseOfRealRuns) {
  for (const char* name : {"fashion-cnn", "fashion-transformer"}) {
    const Trace trace(std::string(MANTISSA_SOURCE_DIR "/traces/") + name + ".safetensors");
    for (const std::uint32_t step : trace.steps()) {
      for (const trace::Layer& layer : trace.layers()) {
        if (&layer == &trace.layers().back()) continue;
        const trace::TensorInfo& gradient = *trace.find(step, layer, Role::grad_output);
        const double largest = trace::statistics_of(trace.file(), gradient).largest;
        const double draw = normal_quantile(1 - 1.0 / static_cast<double>(gradient.elements()));
        trace::NetworkLayer shape;
        shape.layer = layer;
        shape.output = gradient.shape;
        const double expected = std::exp(trace::usual_mu(shape) + trace::SyntheticNumbers{}.sigma * draw);
        EXPECT_LT(std::fabs(std::log10(largest / expected)), 1.3) << gradient.name;
      }
    }
  }
}

TEST_F(Synthetic, GradientSparsityOverridesTheReLU) {
  const Trace trace(write(trace::mlp(256, {50, 300, 200}), {.gradient_sparsity = 0.85}));
  for (const trace::Layer& layer : trace.layers()) {
    const auto s = trace::statistics_of(trace.file(), *trace.find(0, layer, Role::grad_output));
    EXPECT_NEAR(s.zero_share(), 0.85, 0.01);
  }
}

TEST_F(Synthetic, SameSeedSameFileWithAnyThreads) {
  const trace::Network network = trace::mlp(600, {500, 400, 10});
  const std::string one = contents(write(network, {.seed = 9}));
  EXPECT_TRUE(one == contents(write(network, {.seed = 9}, trace::DType::f32, 3)));
  EXPECT_FALSE(one == contents(write(network, {.seed = 10})));
}

TEST_F(Synthetic, NarrowTypesAreTheSameNumbersRounded) {
  const trace::Network network = trace::mlp(16, {50, 40});
  const Trace wide(write(network));
  const Trace narrow(write(network, {}, trace::DType::bf16));
  const std::vector<float> a = wide.values(0, wide.layers()[0], Role::grad_output);
  const std::vector<float> b = narrow.values(0, narrow.layers()[0], Role::grad_output);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(std::fabs(a[i] - b[i]), std::ldexp(std::fabs(a[i]), -8));
  EXPECT_LT(narrow.file().file_bytes(), wide.file().file_bytes());
}

TEST_F(Synthetic, RefusesImpossibleNumbers) {
  const trace::Network network = trace::mlp(1, {2, 2});
  for (const trace::SyntheticNumbers& numbers :
       {trace::SyntheticNumbers{.sparsity = 1}, trace::SyntheticNumbers{.sparsity = -0.1},
        trace::SyntheticNumbers{.sparsity = std::nan("")}, trace::SyntheticNumbers{.gradient_sparsity = 1.0},
        trace::SyntheticNumbers{.mu = 30}, trace::SyntheticNumbers{.mu = -100},
        trace::SyntheticNumbers{.sigma = 9}, trace::SyntheticNumbers{.sigma = -1}}) {
    EXPECT_THROW(write(network, numbers), std::invalid_argument);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
  const Trace extreme(write(network, {.mu = 20, .sigma = 8}));
  EXPECT_NO_THROW(check_finite(extreme));
}

}  // namespace
}  // namespace mantissa::test

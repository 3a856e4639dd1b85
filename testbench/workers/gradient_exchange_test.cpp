// The exchange against the law's example, against plain floats with a full sort, and with damaged packets.
#include "sim/workers/gradient_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "testbench/support/refusal.hpp"

namespace mantissa::workers {
namespace {

using mantissa::test::refusal;
using Tensor = std::vector<float>;
using Gradient = std::vector<Tensor>;  // all tensors of one worker

// Lets a test see, or change, what the workers send.
class WatchedGroup : public LocalGroup {
 public:
  using LocalGroup::LocalGroup;
  std::vector<Bytes> all_gather(std::vector<Bytes> own) override {
    last = own;
    if (change) change(own);
    return own;
  }
  std::vector<Bytes> last;
  std::function<void(std::vector<Bytes>&)> change;
};

// The sum that the optimizer gets.
Gradient exchanged(GradientExchange& exchange, const ExchangeStep& step, std::vector<Gradient> gradients,
                   const Gradient& weights) {
  std::vector<std::vector<std::span<float>>> spans;
  spans.reserve(gradients.size());
  for (Gradient& gradient : gradients) spans.emplace_back(gradient.begin(), gradient.end());
  const std::vector<std::span<const float>> all_weights(weights.begin(), weights.end());
  exchange.sum(step, spans, all_weights, spans.front());
  return gradients.front();
}

TEST(GradientExchange, IsTheExampleOfTheLaw) {
  WatchedGroup group(2);
  const CompressionRule rule{.sparsity = 0.75, .momentum = 0.5, .warm_up = {}, .sample = 1};
  GradientExchange exchange(group, {{.name = "w", .elements = 4, .matrix = true, .decayed = true}}, rule, {});
  const std::vector<Gradient> gradients = {{{8, 2, -4, 0}}, {{2, -12, 4, 0}}};
  const Gradient weights = {{5, 5, 5, 5}};
  EXPECT_EQ(exchanged(exchange, {.loss_exponent = 1}, gradients, weights), (Gradient{{2, -3, 0, 0}}));
  EXPECT_EQ(group.last,
            (std::vector<Bytes>{{6, 0, 0, 0, 0, 0, 0, 0, 0, 0x40}, {6, 0, 0, 0, 1, 0, 0, 0, 0x40, 0xC0}}));
  const auto equal = [](std::span<const float> found, const Tensor& expected) {
    return Tensor(found.begin(), found.end()) == expected;
  };
  EXPECT_TRUE(equal(exchange.unsent(0, 0).velocity(), {0, 0.5, -1, 0}));
  EXPECT_TRUE(equal(exchange.unsent(1, 0).accumulated(), {0.5, 0, 1, 0}));
  EXPECT_EQ(exchanged(exchange, {.number = 1, .loss_exponent = 1}, gradients, weights),
            (Gradient{{0, -3, -2.5, 0}}));
  EXPECT_EQ(group.last,
            (std::vector<Bytes>{{6, 0, 0, 0, 2, 0, 0, 0, 0x20, 0xC0}, {6, 0, 0, 0, 1, 0, 0, 0, 0x40, 0xC0}}));
  EXPECT_EQ(exchange.counts().steps, 2);
  EXPECT_EQ(exchange.counts().matrices.dense_bytes, 2U * 2 * 16);
  EXPECT_EQ(exchange.counts().matrices.sent_bytes, 2U * 2 * (4 + 6));
  EXPECT_EQ(exchange.counts().vectors.dense_bytes, 0U);
  EXPECT_EQ(exchange.counts().control, 2U * 2 * 4);
}

// The law a second time: plain floats, a full sort, no messages.
class PlainWorkers {
 public:
  PlainWorkers(int workers, std::size_t matrix)
      : u(workers, Tensor(matrix)), v(workers, Tensor(matrix)), workers_(static_cast<float>(workers)) {}

  Gradient sum(std::vector<Gradient> gradients, const Tensor& weights, int exponent, float decay, float m,
               std::size_t top, bool masking, double clip) {
    Gradient sum;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      double squares = 0;
      for (Tensor& tensor : gradients[k]) {
        for (float& g : tensor) {
          g = g / static_cast<float>(1 << exponent) / workers_;
          squares += static_cast<double>(g) * static_cast<double>(g);
        }
      }
      const float limit = static_cast<float>(clip) / std::sqrt(workers_);
      if (std::sqrt(squares) > limit) {
        for (Tensor& tensor : gradients[k]) {
          for (float& g : tensor) g = g * static_cast<float>(limit / std::sqrt(squares));
        }
      }
      Tensor& matrix = gradients[k][0];
      std::vector<float> magnitudes;
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        u[k][i] = std::fma(m, u[k][i], std::fma(decay / workers_, weights[i], matrix[i]));
        v[k][i] = v[k][i] + u[k][i];
        magnitudes.push_back(std::abs(v[k][i]));
      }
      std::sort(magnitudes.rbegin(), magnitudes.rend());
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = std::abs(v[k][i]) >= magnitudes[top - 1] ? v[k][i] : 0;
        if (matrix[i] == 0) continue;
        v[k][i] = 0;
        if (masking) u[k][i] = 0;
      }
      if (k == 0) {
        sum = gradients[0];
        continue;
      }
      for (std::size_t t = 0; t < sum.size(); ++t) {
        for (std::size_t i = 0; i < sum[t].size(); ++i) sum[t][i] += gradients[k][t][i];
      }
    }
    return sum;
  }

  std::vector<Tensor> u, v;

 private:
  float workers_;
};

TEST(GradientExchange, EqualsPlainFloats) {
  constexpr std::size_t matrix = 300;
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  const auto random = [&](std::size_t n) {
    Tensor values(n);
    for (float& value : values) value = normal(engine);
    return values;
  };
  for (const bool masking : {true, false}) {
    constexpr int workers = 3;
    WatchedGroup group(workers);
    const CompressionRule rule{
        .sparsity = 0.95, .momentum = 0.9, .warm_up = {0.5}, .sample = 1, .factor_masking = masking};
    const std::vector<TensorSite> sites = {{.name = "w", .elements = matrix, .matrix = true, .decayed = true},
                                           {.name = "b", .elements = 20}};
    GradientExchange exchange(group, sites, rule, 1.0);
    PlainWorkers plain(workers, matrix);
    for (int step = 0; step < 24; ++step) {
      std::vector<Gradient> gradients;
      gradients.reserve(workers);
      for (int k = 0; k < workers; ++k) gradients.push_back({random(matrix), random(20)});
      for (float& g : gradients[1][0]) g *= step % 2 == 0 ? 0.1F : 1;  // sometimes below the limit
      const Gradient weights = {random(matrix), random(20)};
      const std::int64_t epoch = step / 12;
      const Gradient sum =
          exchanged(exchange, {.number = step, .epoch = epoch, .loss_exponent = 3, .weight_decay = 0.01F},
                    gradients, weights);
      const Gradient expected =
          plain.sum(gradients, weights[0], 3, 0.01F, 0.9F, epoch == 0 ? 150 : 15, masking, 1.0);
      ASSERT_EQ(sum, expected) << step;
      for (int k = 0; k < workers; ++k) {
        ASSERT_TRUE(
            std::equal(plain.u[k].begin(), plain.u[k].end(), exchange.unsent(k, 0).velocity().begin()));
        ASSERT_TRUE(
            std::equal(plain.v[k].begin(), plain.v[k].end(), exchange.unsent(k, 0).accumulated().begin()));
      }
    }
  }
}

TEST(GradientExchange, DenseSumsAreTakenInOrderAndClippedAtTheEnd) {
  WatchedGroup group(4);
  const std::vector<TensorSite> sites = {{.name = "w", .elements = 2, .matrix = true, .decayed = true}};
  // In any other order 1 would be lost or doubled.
  const std::vector<Gradient> gradients = {{{4, 4}}, {{0x1p26F, 0}}, {{-0x1p26F, 0}}, {{4, 4}}};
  GradientExchange exchange(group, sites, std::nullopt, std::nullopt);
  EXPECT_EQ(exchanged(exchange, {.weight_decay = 1}, gradients, {{9, 9}}), (Gradient{{1, 2}}));
  EXPECT_EQ(exchange.counts().matrices.ratio(), 1.0);
  EXPECT_EQ(exchange.counts().matrices.sent_bytes, 4U * 8);
  GradientExchange clipping(group, sites, std::nullopt, 2.5);
  EXPECT_EQ(exchanged(clipping, {}, {{{12, 16}}, {{0, 0}}, {{0, 0}}, {{0, 0}}}, {{9, 9}}),
            (Gradient{{1.5, 2}}));
}

TEST(GradientExchange, DamagedPacketsNameWorkerAndTensor) {
  WatchedGroup group(3);
  const CompressionRule rule{.sparsity = 0.5, .warm_up = {}, .sample = 1};
  const std::vector<TensorSite> sites = {{.name = "fc.weight", .elements = 8, .matrix = true},
                                         {.name = "fc.bias", .elements = 2}};
  const std::vector<Gradient> gradients(3, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}});
  const auto complaint = [&](const std::function<void(Bytes&)>& change) {
    group.change = [&](std::vector<Bytes>& packets) { change(packets[2]); };
    GradientExchange exchange(group, sites, rule, std::nullopt);
    return refusal([&] { exchanged(exchange, {}, gradients, gradients[0]); });
  };
  EXPECT_EQ(complaint([](Bytes&) {}), "(accepted)");
  const std::size_t size = group.last[2].size();
  EXPECT_EQ(size, 4U + 4 * 6 + 2 * 4);
  for (std::size_t bytes = 0; bytes < size; ++bytes) {
    const std::string said = complaint([=](Bytes& packet) { packet.resize(bytes); });
    EXPECT_NE(said.find("the gradient that worker 2 sent, tensor fc."), std::string::npos) << said;
  }
  EXPECT_NE(complaint([](Bytes& packet) { packet.push_back(0); }).find("has 1 too many"), std::string::npos);
  // The message's length, and then its second run.
  EXPECT_NE(complaint([](Bytes& packet) {
              packet[0] = 23;
            }).find("worker 2 sent, tensor fc.weight cannot be read: a run-length message of 23 bytes"),
            std::string::npos);
  EXPECT_NE(complaint([](Bytes& packet) {
              packet[10] = 200;
            }).find("run-length entry 1 reaches element 205 of a tensor of 8"),
            std::string::npos);
}

}  // namespace
}  // namespace mantissa::workers

// Deep gradient compression: the algorithm against plain floats and sorting, sizes against the published
// table.
#include "models/compress/gradient_compression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>

#include "models/compress/run_length.hpp"

namespace mantissa {
namespace {

std::vector<float> lognormal(std::size_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(-4.0F, 2.0F);
  std::vector<float> values(n);
  for (float& value : values)
    value = std::copysign(std::exp(normal(engine)), (engine() & 1) != 0 ? 1.0F : -1.0F);
  return values;
}

std::size_t count_at_least(const std::vector<float>& values, float threshold) {
  return std::count_if(values.begin(), values.end(), [=](float v) { return std::abs(v) >= threshold; });
}

float kth_largest_by_sorting(std::vector<float> values, std::size_t k) {
  for (float& value : values) value = std::abs(value);
  std::sort(values.rbegin(), values.rend());
  return values[k - 1];
}

TEST(TopShare, SamplingEverythingIsExact) {
  const std::vector<float> values = lognormal(10000, 1);
  for (const double keep : {1.0, 0.25, 0.01, 0.001, 0.00001}) {
    const std::size_t k = std::max<std::size_t>(1, std::lround(10000 * keep));
    EXPECT_EQ(top_share_threshold(values, {.keep = keep, .sample = 1.0}), kth_largest_by_sorting(values, k));
  }
}

TEST(TopShare, TightBoundsMakeTheSampledThresholdExact) {
  const std::vector<float> values = lognormal(300000, 2);
  for (std::uint64_t start = 0; start < 200; start += 7) {
    const TopShare share{.too_many = 1.0, .too_few = 1.0, .random_start = start};
    ASSERT_EQ(top_share_threshold(values, share), kth_largest_by_sorting(values, 300)) << start;
  }
}

TEST(TopShare, SampledThresholdStaysWithinItsBounds) {
  const std::vector<float> values = lognormal(300000, 3);
  bool inexact = false;
  for (std::uint64_t start = 0; start < 200; start += 7) {
    const float threshold = top_share_threshold(values, {.random_start = start});
    const std::size_t survivors = count_at_least(values, threshold);
    EXPECT_GE(survivors, 240U) << start;
    EXPECT_LE(survivors, 390U) << start;
    inexact |= survivors != 300;
  }
  EXPECT_TRUE(inexact);  // it is a sample, not a sort
}

TEST(TopShare, StrideSeesEnoughElements) {
  for (const std::size_t n : {100UL, 2000UL, 2001UL, 5000UL, 123456UL, 1000000UL, 37748736UL}) {
    const TopShare share;
    const std::size_t stride = sample_stride(n, share);
    EXPECT_EQ(stride % 8, 1U) << n;
    const auto wanted = static_cast<std::size_t>(std::max(2000.0, std::ceil(0.01 * static_cast<double>(n))));
    EXPECT_GE(n / stride, std::min(n, wanted)) << n;
  }
  EXPECT_EQ(sample_stride(1000000, {}), 97U);  // 129 would give 7751 samples of 10000, 97 gives 10309
}

TEST(TopShare, FirstGuessIsTheTopOfTheStridedSample) {
  const std::vector<float> values = lognormal(300000, 8);
  const std::size_t stride = sample_stride(values.size(), {});
  for (const std::size_t start : {std::size_t{0}, std::size_t{1}, stride - 1, stride + 5}) {
    std::vector<float> sample;
    for (std::size_t i = start % stride; i < values.size(); i += stride) sample.push_back(values[i]);
    const std::size_t k = std::lround(0.001 * static_cast<double>(sample.size()));
    const TopShare guess{.too_many = 1e9, .too_few = 0, .random_start = start};
    EXPECT_EQ(top_share_threshold(values, guess), kth_largest_by_sorting(sample, k)) << start;
  }
}

TEST(TopShare, FarTooManySurvivorsAreCutExactly) {
  // The sample sees only small values; the large ones stand beside it.
  std::vector<float> values = lognormal(200000, 4);
  const std::size_t stride = sample_stride(values.size(), {});
  for (std::size_t i = 0; i < values.size(); i += stride) values[i] = 1e-6F;
  EXPECT_EQ(top_share_threshold(values, {}), kth_largest_by_sorting(values, 200));
}

TEST(TopShare, FarTooFewSurvivorsLowerTheThreshold) {
  // The sample sees values twice as large as the others.
  std::vector<float> values(200000, 1.0F);
  const std::size_t stride = sample_stride(values.size(), {});
  for (std::size_t i = 0; i < values.size(); i += stride) values[i] = 2.0F - static_cast<float>(i) * 1e-6F;
  for (std::size_t i = 0; i < 150; ++i) values[i * stride + 1] = 1.5F;
  const float threshold = top_share_threshold(values, {.too_few = 1.0});
  const std::size_t survivors = count_at_least(values, threshold);
  EXPECT_EQ(survivors, 200U);
  EXPECT_EQ(threshold, kth_largest_by_sorting(values, 200));
  // Without a second attempt the first guess stands.
  EXPECT_LT(count_at_least(values, top_share_threshold(values, {.too_few = 1.0, .attempts = 0})), 200U);
}

TEST(TopShare, ZerosAreNeverSent) {
  std::vector<float> values(5000, 0.0F);
  EXPECT_GT(top_share_threshold(values, {}), 0.0F);
  EXPECT_TRUE(run_length_encode(values, top_share_threshold(values, {.keep = 1.0})).empty());
  values[17] = std::bit_cast<float>(1U);
  EXPECT_EQ(run_length_encode(values, top_share_threshold(values, {.keep = 1.0})).size(), 6U);
}

TEST(TopShare, RefusesBadShares) {
  const std::vector<float> values(10, 1.0F);
  EXPECT_THROW(top_share_threshold(values, {.keep = 0}), std::invalid_argument);
  EXPECT_THROW(top_share_threshold(values, {.keep = 1.5}), std::invalid_argument);
  EXPECT_THROW(top_share_threshold(values, {.sample = 0}), std::invalid_argument);
  EXPECT_THROW(top_share_threshold(values, {.too_many = 0.9}), std::invalid_argument);
  EXPECT_THROW(top_share_threshold(values, {.too_few = 1.1}), std::invalid_argument);
  EXPECT_THROW(top_share_threshold({}, {}), std::invalid_argument);
}

// Algorithm 4 of the paper in plain floats, with a full sort.
struct PlainCompressor {
  std::vector<float> u, v;
  std::vector<float> step(const std::vector<float>& g, float m, bool nesterov, std::size_t k) {
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (nesterov) {
        u[i] = m * (u[i] + g[i]);
        v[i] += u[i] + g[i];
      } else {
        u[i] = std::fma(m, u[i], g[i]);
        v[i] += u[i];
      }
    }
    const float threshold = kth_largest_by_sorting(v, k);
    std::vector<float> sent(g.size(), 0.0F);
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (std::abs(v[i]) < threshold) continue;
      sent[i] = v[i];
      u[i] = v[i] = 0.0F;
    }
    return sent;
  }
};

TEST(GradientCompressor, EqualsPlainFloats) {
  const std::size_t n = 400;
  for (const bool nesterov : {false, true}) {
    GradientCompressor compressor(n, 0.9F, nesterov ? MomentumKind::nesterov : MomentumKind::heavy_ball);
    PlainCompressor plain{std::vector<float>(n, 0.0F), std::vector<float>(n, 0.0F)};
    std::vector<float> sum(n, 1.0F);
    for (std::uint32_t step = 0; step < 30; ++step) {
      const std::vector<float> gradient = lognormal(n, 50 + step);
      const std::vector<std::uint8_t> message = compressor.compress(gradient, {.keep = 0.05, .sample = 1.0});
      const std::vector<float> sent = plain.step(gradient, 0.9F, nesterov, 20);
      ASSERT_EQ(run_length_decode(message, n), sent);
      ASSERT_TRUE(std::equal(plain.u.begin(), plain.u.end(), compressor.velocity().begin()));
      ASSERT_TRUE(std::equal(plain.v.begin(), plain.v.end(), compressor.accumulated().begin()));
      std::vector<float> expected = sum;
      for (std::size_t i = 0; i < n; ++i) expected[i] += sent[i];
      add_message(message, sum);
      ASSERT_EQ(sum, expected);
    }
  }
  GradientCompressor compressor(3);
  EXPECT_THROW(compressor.compress(std::vector<float>(4), {}), std::invalid_argument);
}

TEST(GradientCompressor, MomentumCorrectionSendsWhatDenseMomentumWouldHaveApplied) {
  // An element below the threshold for T steps sends the sum of its velocities: g * sum over t of (1 + .. +
  // m^t).
  GradientCompressor compressor(1000, 0.5F);
  std::vector<float> gradient(1000, 0.0F);
  const TopShare one{.keep = 0.001, .sample = 1.0};
  for (int step = 0; step < 4; ++step) {
    gradient[7] = 1.0F;
    gradient[500] = 100.0F;  // always the largest
    compressor.compress(gradient, one);
  }
  gradient[7] = gradient[500] = 0.0F;
  const std::vector<float> sent = run_length_decode(compressor.compress(gradient, one), 1000);
  // Velocities 1, 1.5, 1.75, 1.875, then 0.9375.
  EXPECT_EQ(sent[7], 7.0625F);
  EXPECT_EQ(compressor.velocity()[7], 0.0F);
}

TEST(Clipping, ScalesToTheLimitOnlyWhenAbove) {
  std::vector<float> gradient{3.0F, -4.0F};
  clip_to_norm(gradient, 6.0F);
  EXPECT_EQ(gradient, (std::vector<float>{3.0F, -4.0F}));
  clip_to_norm(gradient, 2.5F);
  EXPECT_EQ(gradient, (std::vector<float>{1.5F, -2.0F}));
  std::vector<float> huge{3e38F, 3e38F};
  clip_to_norm(huge, 1.0F);
  EXPECT_NEAR(huge[0], std::sqrt(0.5), 1e-6);
  EXPECT_EQ(local_clipping_limit(3.0F, 4), 1.5F);
  EXPECT_EQ(local_clipping_limit(0.25F, 64), 0.03125F);
  EXPECT_THROW(local_clipping_limit(1.0F, 0), std::invalid_argument);
  EXPECT_THROW(clip_to_norm(gradient, 0.0F), std::invalid_argument);
}

TEST(Clipping, TakesAllTensorsOfAGradientTogether) {
  std::vector<float> first{3.0F};
  std::vector<float> second{0.0F, -4.0F};
  const std::vector<std::span<float>> tensors{first, second};
  clip_to_norm(tensors, 5.0F);
  EXPECT_EQ(first[0], 3.0F);
  clip_to_norm(tensors, 2.5F);
  EXPECT_EQ(first[0], 1.5F);
  EXPECT_EQ(second, (std::vector<float>{0.0F, -2.0F}));
}

TEST(WorkerShares, AreRoundedOnceEach) {
  // 0x1p-149 / 2 is a tie, to even; the smallest number times 2^3 is exact, and a third of it is rounded.
  std::vector<float> gradient{6.0F, -1.0F, 0x1p-148F, 1e38F};
  take_share(gradient, 1, 1);
  EXPECT_EQ(gradient, (std::vector<float>{3.0F, -0.5F, 0x1p-149F, 0.5e38F}));
  take_share(gradient, 1, 1);
  EXPECT_EQ(gradient[2], 0.0F);
  take_share(gradient, -3, 3);
  EXPECT_EQ(gradient[0], 4.0F);
  EXPECT_EQ(gradient[1], -2.0F / 3.0F);
  std::vector<float> decayed{1.0F, 2.0F};
  add_decay_share(decayed, std::vector<float>{8.0F, -8.0F}, 0.5F, 4);
  EXPECT_EQ(decayed, (std::vector<float>{2.0F, 1.0F}));
  EXPECT_THROW(add_decay_share(decayed, std::vector<float>(3), 0.5F, 4), std::invalid_argument);
  EXPECT_THROW(take_share(decayed, 0, 0), std::invalid_argument);
}

TEST(GradientCompressor, GoesOnFromWhatItHadNotSent) {
  const TopShare share{.keep = 0.1, .sample = 1.0};
  GradientCompressor whole(50);
  whole.compress(lognormal(50, 1), share);
  GradientCompressor rest(50);
  rest.restore(whole.velocity(), whole.accumulated());
  for (std::uint32_t step = 2; step < 9; ++step)
    ASSERT_EQ(rest.compress(lognormal(50, step), share), whole.compress(lognormal(50, step), share));
  EXPECT_THROW(rest.restore(std::vector<float>(49), std::vector<float>(50)), std::invalid_argument);
}

TEST(GradientCompressor, KeepingTheVelocityAndSendingAllIsMomentumSgd) {
  GradientCompressor compressor(40, 0.9F, MomentumKind::heavy_ball, SentVelocity::kept);
  std::vector<float> momentum(40);
  for (std::uint32_t step = 0; step < 9; ++step) {
    const std::vector<float> gradient = lognormal(40, step);
    for (std::size_t i = 0; i < 40; ++i) momentum[i] = std::fma(0.9F, momentum[i], gradient[i]);
    ASSERT_EQ(run_length_decode(compressor.compress(gradient, {.keep = 1.0, .sample = 1.0}), 40), momentum);
  }
}

TEST(WarmUp, SparsityRisesInFourSteps) {
  // 75, 93.75, 98.4375, 99.6 % in the four epochs, then 99.9 %.
  const double keep[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.001, 0.001};
  for (int epoch = 0; epoch < 6; ++epoch) EXPECT_EQ(warm_up_keep(epoch, 4, 0.001), keep[epoch]);
  // A warm-up of one epoch of 100 iterations.
  EXPECT_EQ(warm_up_keep(24, 100, 0.001), 0.25);
  EXPECT_EQ(warm_up_keep(25, 100, 0.001), 0.0625);
  EXPECT_EQ(warm_up_keep(99, 100, 0.001), 0.00390625);
  EXPECT_EQ(warm_up_keep(100, 100, 0.001), 0.001);
  EXPECT_EQ(warm_up_keep(0, 0, 0.001), 0.001);
  EXPECT_EQ(warm_up_keep(3, 4, 0.05), 0.05);
  EXPECT_THROW(warm_up_keep(-1, 4, 0.05), std::invalid_argument);
}

// Magnitudes uniform over all finite codes, so that hardly any two are equal.
std::vector<float> random_magnitudes(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  std::uint64_t state = seed;
  for (float& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = std::bit_cast<float>(static_cast<std::uint32_t>(((state >> 32) * 0x7F800000ULL) >> 32));
  }
  return values;
}

// Selects 0.1 % of every tensor, encodes it, and counts the bytes.
double measured_ratio(const std::vector<std::size_t>& tensors, std::size_t dense) {
  ExchangeSize size;
  size.add_dense(dense);
  std::uint64_t seed = 1;
  for (const std::size_t elements : tensors) {
    const std::vector<float> values = random_magnitudes(elements, ++seed);
    const float threshold =
        top_share_threshold(values, {.too_many = 1.0, .too_few = 1.0, .random_start = seed});
    size.add_compressed(elements, run_length_encode(values, threshold).size());
  }
  return size.ratio();
}

TEST(ExchangeSize, AlexNetIs598TimesSmaller) {
  const std::vector<std::size_t> tensors{96UL * 3 * 121,  256UL * 48 * 25, 384UL * 256 * 9, 384UL * 192 * 9,
                                         256UL * 192 * 9, 9216UL * 4096,   4096UL * 4096,   4096UL * 1000};
  EXPECT_NEAR(measured_ratio(tensors, 10568), 597.7, 0.05);
}

TEST(ExchangeSize, ResNet50Is277TimesSmaller) {
  std::vector<std::size_t> tensors{64UL * 3 * 49};
  std::size_t input = 64;
  const std::size_t stages[][2] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};
  for (const auto& [width, blocks] : stages) {
    for (std::size_t block = 0; block < blocks; ++block) {
      tensors.insert(tensors.end(), {input * width, width * width * 9, width * width * 4});
      if (block == 0) tensors.push_back(input * width * 4);
      input = width * 4;
    }
  }
  tensors.push_back(2048UL * 1000);
  EXPECT_NEAR(measured_ratio(tensors, 54120), 276.7, 0.05);
}

TEST(ExchangeSize, PtbLstmIs462TimesSmaller) {
  EXPECT_NEAR(measured_ratio({15000000, 9000000, 9000000, 9000000, 9000000}, 34000), 461.8, 0.05);
}

}  // namespace
}  // namespace mantissa

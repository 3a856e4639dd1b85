// The vector GEMMLOWP quantizer against the scalar model, on every SIMD target.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "models/kernels/gemmlowp.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/models/kernels/norm_tensors.hpp"

namespace mantissa {
namespace {

void expect_scalar_model(std::span<const float> values, const GemmlowpRange& range, Rounding rounding,
                         const DrawSource& draws) {
  std::vector<std::uint16_t> expected(values.size());
  std::vector<float> expected_back(values.size());
  const std::uint64_t expected_invalid = gemmlowp_quantize(values, range, rounding, draws, expected);
  gemmlowp_dequantize(expected, range, expected_back);
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      const std::string where = target + " " + rounding.name() + " " + std::to_string(range.bits);
      std::vector<std::uint16_t> codes(values.size());
      std::vector<float> back(values.size());
      ASSERT_EQ(kernels::gemmlowp_quantize(values, range, rounding, draws, codes, threads), expected_invalid)
          << where;
      ASSERT_EQ(codes, expected) << where;
      kernels::gemmlowp_dequantize(codes, range, back, threads);
      ASSERT_EQ(test::all_bits(back), test::all_bits(expected_back)) << where;
      std::vector<float> in_place(values.begin(), values.end());
      ASSERT_EQ(kernels::gemmlowp_round_values(in_place, range, rounding, draws, in_place, threads),
                expected_invalid)
          << where;
      ASSERT_EQ(test::all_bits(in_place), test::all_bits(expected_back)) << where;
    }
  });
}

TEST(GemmlowpKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 0;
  for (const int bits : {8, 16}) {
    for (const char* round : {"rne", "rna", "rnz", "rtz", "sr:1", "sr:8", "sr:16", "sr:30", "sr:32"}) {
      // All of the tensor; a range that clamps; a constant one; one whose width overflows.
      std::vector<float> values = test::activations(9003, ++seed, true);
      const DrawSource draws{.run_seed = seed, .lanes = seed % 2 == 0 ? 16 : 5, .leap = 32};
      for (const GemmlowpRange& range :
           {GemmlowpRange::of(test::activations(50, seed), bits), GemmlowpRange::between(-1, 2, bits),
            GemmlowpRange::between(0.5F, 0.5F, bits), GemmlowpRange::between(-3e38F, 3e38F, bits)}) {
        // Ties and whole numbers of steps.
        for (std::size_t i = 0; i < values.size(); i += 3) {
          values[i] = range.min + range.scale * 0.5F * static_cast<float>(i % 600);
        }
        expect_scalar_model(values, range, Rounding::parse(round), draws);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(GemmlowpKernel, ThreadsShareLongTensorsWithoutChangingABit) {
  const auto values = test::activations(100'003, 3);
  expect_scalar_model(values, GemmlowpRange::of(values, 8), Rounding::sr(16), {.run_seed = 2});
  expect_scalar_model(values, GemmlowpRange::of(values, 8), Rounding::rne(), {});
}

TEST(GemmlowpKernel, RangeIsThatOfTheScalarModel) {
  const float inf = fp32_value(0x7F800000U);
  const float nan = fp32_value(0x7FC00000U);
  std::vector<std::vector<float>> tensors = {
      {}, {inf, nan, -inf}, {3.0F}, {0.0F, -0.0F, 1.0F}, {nan, -0.0F, 0.0F, 1.0F}, {-2.0F, -0.0F, 0.0F, inf}};
  for (const std::size_t size : {7U, 64U, 40'001U}) {
    tensors.push_back(test::activations(static_cast<std::int64_t>(size), size, true));
    tensors.push_back(tensors.back());
    for (float& value : tensors.back()) value = value < 0 ? -0.0F : value;  // as ReLU might leave it
  }
  for (const auto& values : tensors) {
    const GemmlowpRange expected = GemmlowpRange::of(values, 8);
    test::on_every_target([&](const std::string& target) {
      for (const int threads : {1, 2}) {
        const GemmlowpRange range = kernels::gemmlowp_range(values, 8, threads);
        ASSERT_EQ(fp32_bits(range.min), fp32_bits(expected.min)) << target << " of " << values.size();
        ASSERT_EQ(fp32_bits(range.max), fp32_bits(expected.max)) << target << " of " << values.size();
        ASSERT_EQ(fp32_bits(range.scale), fp32_bits(expected.scale)) << target;
        ASSERT_EQ(range.bits, expected.bits);
      }
    });
  }
  EXPECT_THROW(kernels::gemmlowp_range(tensors.back(), 7), std::invalid_argument);
}

TEST(GemmlowpKernel, RefusesWhatTheScalarModelRefuses) {
  const std::vector<float> values(4);
  std::vector<std::uint16_t> few(3);
  std::vector<std::uint16_t> codes(4);
  std::vector<float> back(3);
  const GemmlowpRange range = GemmlowpRange::between(0, 1, 8);
  EXPECT_THROW(kernels::gemmlowp_quantize(values, range, Rounding::rne(), {}, few), std::invalid_argument);
  EXPECT_THROW(kernels::gemmlowp_dequantize(codes, range, back), std::invalid_argument);
  EXPECT_THROW(kernels::gemmlowp_round_values(values, range, Rounding::rne(), {}, back),
               std::invalid_argument);
  EXPECT_THROW(kernels::gemmlowp_quantize(values, range, Rounding::sr(17), {}, codes), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

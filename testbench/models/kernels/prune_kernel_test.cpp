// The vector pruner and the non-zero masks against the scalar model, on every SIMD target.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/prune.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

// Magnitudes below and above tau, exact fractions of it, zeros of both signs, Inf and NaN.
std::vector<float> gradients(std::size_t count, float tau, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const std::uint64_t word = random();
    value = tau * 1.2F * static_cast<float>(word & 0xFFFFFF) * 0x1p-24F * ((word >> 63) != 0 ? -1.0F : 1.0F);
    if (word % 11 == 0) value = fp32_value(static_cast<std::uint32_t>(word >> 32));
    if (word % 13 == 0) value = (word >> 62 & 1) != 0 ? -0.0F : 0.0F;
    if (word % 17 == 0) value = tau * static_cast<float>(word >> 40 & 15) / 16.0F;
  }
  return values;
}

TEST(PruneKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 0;
  for (const std::size_t count : {0U, 1U, 7U, 16U, 5003U, 70'000U}) {
    for (const int random_bits : {1, 8, 16, 23, 24, 32}) {
      for (const float tau : {0.0F, -0.0F, 1.0F, 0.3F, 1e-30F, 1e-35F, 3e38F}) {
        const auto g = gradients(count, tau, ++seed);
        const Pruner pruner{formats::fp32, fp32_bits(tau), random_bits};
        const DrawSource draws{
            .run_seed = seed, .lanes = seed % 2 == 0 ? 16 : 5, .leap = random_bits > 16 ? 32 : 16};
        std::vector<float> expected(count);
        std::vector<std::uint8_t> expected_bits((count + 7) / 8);
        const PruneCounts expected_counts = prune_tensor<float>(g, pruner, draws, expected, expected_bits);
        test::on_every_target([&](const std::string& target) {
          for (const int threads : {1, 2}) {
            std::vector<float> out = g;  // in place
            std::vector<std::uint8_t> bits(expected_bits.size(), 0xFF);
            const PruneCounts counts = kernels::prune(out, pruner, draws, out, bits, threads);
            ASSERT_EQ(counts, expected_counts) << target << " tau " << tau << " r " << random_bits;
            ASSERT_EQ(bits, expected_bits) << target;
            for (std::size_t i = 0; i < count; ++i)
              ASSERT_EQ(fp32_bits(out[i]), fp32_bits(expected[i])) << target << i;
          }
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PruneKernel, RefusesWhatTheScalarModelRefuses) {
  std::vector<float> g(8);
  std::vector<float> few(7);
  EXPECT_THROW(kernels::prune(g, {}, {}, few), std::invalid_argument);
  EXPECT_THROW(kernels::prune(g, {.tau = fp32_bits(-1.0F)}, {}, g), std::invalid_argument);
  EXPECT_THROW(kernels::prune(g, {}, {.lanes = 0}, g), std::invalid_argument);
  std::vector<std::uint8_t> bits(2);
  EXPECT_THROW(kernels::prune(g, {}, {}, g, bits), std::invalid_argument);
}

TEST(NonzeroMask, TellsZerosOfBothSignsFromEverythingElse) {
  for (const char* name : {"e5m2", "e4m3:fnuz", "e2m1"}) {
    const Format format = Format::parse(name);
    for (const std::size_t count : {0U, 5U, 64U, 1003U}) {
      test::Random random(count);
      std::vector<std::uint8_t> codes(count);
      for (std::uint8_t& code : codes) {
        code = static_cast<std::uint8_t>(random() &
                                         (random() % 3 == 0 ? format.code_mask() : format.sign_bit()));
      }
      test::on_every_target([&](const std::string& target) {
        std::vector<std::uint8_t> bits((count + 7) / 8, 0xFF);
        const std::uint64_t found = kernels::nonzero_mask(codes, format, bits);
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const bool nonzero = to_double(codes[i], format) != 0;  // NaN is not equal to zero
          expected += nonzero ? 1 : 0;
          ASSERT_EQ((bits[i / 8] >> (i % 8) & 1) != 0, nonzero) << target << " " << name << " " << i;
        }
        ASSERT_EQ(found, expected);
        ASSERT_EQ(kernels::count_nonzero(bits, 0, count), expected);
        if (count > 20) {
          const std::uint64_t inner = kernels::count_nonzero(bits, 3, count - 2);
          std::uint64_t ends = 0;
          for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}, count - 2, count - 1}) {
            ends += bits[i / 8] >> (i % 8) & 1;
          }
          ASSERT_EQ(inner + ends, expected);
        }
      });
    }
  }
  std::vector<std::uint8_t> codes(9);
  std::vector<std::uint8_t> bits(1);
  EXPECT_THROW(kernels::nonzero_mask(codes, formats::e5m2, bits), std::invalid_argument);
  EXPECT_THROW(kernels::count_nonzero(bits, 0, 9), std::invalid_argument);
  EXPECT_THROW(kernels::count_nonzero(bits, 5, 4), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

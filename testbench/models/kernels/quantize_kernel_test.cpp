// The vector quantizer against the scalar model and against MPFR's step function, on every SIMD target.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "models/kernels/quantize.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/support/operands.hpp"
#include "testbench/support/parallel.hpp"
#include "testbench/support/step_function.hpp"

namespace mantissa {
namespace {

// Values around everything a conversion can meet: its whole exponent range and a bit beyond, ties, specials.
std::vector<float> interesting_values(const Conversion& how, std::size_t count, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<float> values(count);
  const int low = how.to.min_exponent() - how.scale - how.to.mantissa_bits - 3;
  const int high = how.to.max_exponent() - how.scale + 2;
  for (float& value : values) {
    const int exponent = low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
    value = fp32_value(test::code_near(formats::fp32, exponent, 0, random));
    if (random() % 4 == 0) value = fp32_value(static_cast<std::uint32_t>(random()));
    if (random() % 64 == 0) value = random() % 2 == 0 ? -0.0F : fp32_value(0xFF800000U);
    if (random() % 64 == 0) value = fp32_value(random() % 2 == 0 ? 0x7F800001U : 0x7F800000U);
  }
  return values;
}

template <class Code>
void expect_scalar_model(const Conversion& how, const DrawSource& draws, std::span<const float> values) {
  std::vector<Code> expected(values.size());
  const ConversionCounts expected_counts = quantize<Code>(values, how, draws, expected);
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      std::vector<Code> codes(values.size());
      ConversionCounts counts;
      kernels::quantize<Code>(values, how, draws, codes, threads, &counts);
      ASSERT_EQ(codes, expected) << target << " " << how.to.name() << " " << how.rounding.name();
      ASSERT_EQ(counts, expected_counts) << target << " " << how.to.name() << " " << how.rounding.name();
      std::fill(codes.begin(), codes.end(), Code{0});
      kernels::quantize<Code>(values, how, draws, codes, threads);
      ASSERT_EQ(codes, expected) << target << " without counts";
    }
  });
}

class QuantizeKernel : public testing::TestWithParam<const char*> {};

TEST_P(QuantizeKernel, EqualsTheScalarModel) {
  std::uint64_t seed = 1;
  for (const char* round : {"rne", "rna", "rnz", "rtz", "sr:1", "sr:8", "sr:16"}) {
    for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
      for (const int scale : {0, -5, 3, 120}) {
        const Conversion how{.to = Format::parse(GetParam()),
                             .rounding = Rounding::parse(round),
                             .overflow = overflow,
                             .scale = scale};
        // Sizes that do not divide vectors, blocks or lanes.
        ++seed;
        const auto values = interesting_values(how, 9000 + seed % 17, seed);
        const DrawSource draws{.run_seed = seed, .stream = 1, .lanes = scale == 3 ? 5 : 16};
        if (how.to.bits() <= 8) {
          expect_scalar_model<std::uint8_t>(how, draws, values);
        } else {
          expect_scalar_model<std::uint16_t>(how, draws, values);
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, QuantizeKernel,
                         testing::Values("e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "fp16", "bf16", "e4m3:fnuz",
                                         "e5m2:fnuz", "e4m3:ieee", "e3m0:finite", "e5m2:fn", "e7m0", "e6m5",
                                         "e4m3:bias=11"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

TEST(QuantizeKernel, ThreadsShareLongTensorsWithoutChangingABit) {
  const Conversion how{.to = formats::e4m3, .rounding = Rounding::sr(8)};
  expect_scalar_model<std::uint8_t>(how, {.run_seed = 4, .lanes = 16}, interesting_values(how, 200'003, 5));
}

TEST(QuantizeKernel, OptionsWithoutAVectorFormAreTheScalarModels) {
  for (const Conversion& how : {Conversion{.to = formats::e5m2, .via_fp16 = true},
                                Conversion{.to = formats::e5m2, .flush = {true, true}},
                                Conversion{.to = formats::e5m2, .rounding = Rounding::sr(30)}}) {
    const DrawSource draws{.lanes = 4, .leap = 32};
    expect_scalar_model<std::uint8_t>(how, draws, interesting_values(how, 3000, 6));
  }
}

TEST(QuantizeKernel, DequantizeEqualsTheScalarModel) {
  std::vector<std::uint8_t> codes(5000);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  for (const char* name : {"e5m2", "e4m3", "e4m3:fnuz", "e4m3:bias=11"}) {
    for (const int scale : {0, 100, -128}) {
      const Conversion how{.to = Format::parse(name), .scale = scale};
      std::vector<float> expected(codes.size());
      dequantize<std::uint8_t>(codes, how, expected);
      test::on_every_target([&](const std::string& target) {
        std::vector<float> values(codes.size());
        kernels::dequantize(codes, how, values, 2);
        for (std::size_t i = 0; i < codes.size(); ++i) {
          ASSERT_EQ(fp32_bits(values[i]), fp32_bits(expected[i])) << target << " " << name << " " << i;
        }
      });
    }
  }
}

TEST(QuantizeKernel, RefusesWhatTheScalarModelRefuses) {
  const std::vector<float> values(4);
  std::vector<std::uint8_t> codes(4);
  std::vector<std::uint8_t> few(3);
  EXPECT_THROW(kernels::quantize<std::uint8_t>(values, {.to = formats::fp16}, {}, codes),
               std::invalid_argument);
  EXPECT_THROW(kernels::quantize<std::uint8_t>(values, {.to = formats::e5m2}, {}, few),
               std::invalid_argument);
  const Conversion stochastic{.to = formats::e5m2, .rounding = Rounding::sr(8)};
  EXPECT_THROW(kernels::quantize<std::uint8_t>(values, stochastic, {.lanes = 0}, codes),
               std::invalid_argument);
  EXPECT_THROW(kernels::quantize<std::uint8_t>(values, stochastic, {.leap = 7}, codes),
               std::invalid_argument);
  const Conversion no_bits{.to = formats::e5m2, .rounding = Rounding::sr(0)};
  EXPECT_THROW(kernels::quantize<std::uint8_t>(values, no_bits, {}, codes), std::invalid_argument);
}

// FP32 patterns first, first + stride, ... against MPFR's boundaries.
template <class Code>
std::string sweep(const Conversion& how, std::uint64_t first, std::uint64_t end, std::uint64_t stride) {
  const test::StepFunction steps(how.to, how.rounding, how.overflow);
  test::StepFunction::Walk walk(steps, static_cast<std::uint32_t>(first));
  constexpr std::size_t block = 1 << 16;
  std::vector<float> values(block);
  std::vector<Code> codes(block);
  while (first < end) {
    std::size_t count = 0;
    for (std::uint64_t bits = first; count < block && bits < end; bits += stride) {
      values[count++] = fp32_value(static_cast<std::uint32_t>(bits));
    }
    kernels::quantize<Code>(std::span(values).first(count), how, {}, std::span(codes).first(count));
    for (std::size_t i = 0; i < count; ++i, first += stride) {
      const std::uint32_t expected = walk.at(static_cast<std::uint32_t>(first)).code;
      if (codes[i] != expected) {
        return "input " + std::to_string(first) + ": " + std::to_string(codes[i]) + " is not " +
               std::to_string(expected);
      }
    }
  }
  return "";
}

void sweep_all_formats(std::uint64_t stride) {
  constexpr std::uint64_t all = 1ULL << 32;
  for (const NamedFormat& named : named_formats) {
    if (named.format == formats::fp32) continue;
    for (const Rounding rounding : {Rounding::rne(), Rounding::rna(), Rounding::rnz(), Rounding::rtz()}) {
      for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
        const Conversion how{.to = named.format, .rounding = rounding, .overflow = overflow};
        const std::string found = test::first_mismatch(2, [&](int part) {
          const std::uint64_t first = part == 0 ? 0 : (all / 2 + stride - 1) / stride * stride;
          const std::uint64_t end = part == 0 ? all / 2 : all;
          return named.format.bits() <= 8 ? sweep<std::uint8_t>(how, first, end, stride)
                                          : sweep<std::uint16_t>(how, first, end, stride);
        });
        ASSERT_EQ(found, "") << named.name << " " << rounding.name();
      }
    }
  }
}

TEST(QuantizeKernelSweep, StridedInputsEqualMpfr) { sweep_all_formats(4099); }
TEST(LongQuantizeKernelSweep, AllInputsEqualMpfr) { sweep_all_formats(1); }

}  // namespace
}  // namespace mantissa

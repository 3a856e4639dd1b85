// The vector GEMM against the scalar model (every accumulator option) and the hardware's FMA, on every SIMD
// target and with one and two threads: always the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/gemm.hpp"
#include "models/mac/accumulator_preset.hpp"
#include "models/quantize/quantizer.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

// N(0,1) alone hides bugs: small values make subnormal accumulators, all finite codes make overflow and huge
// spreads, and any code brings Inf and NaN.
enum class Values { normal, tiny, finite, any };

std::vector<std::uint8_t> random_codes(std::size_t count, const Format& format, Values values,
                                       test::Random& random) {
  std::normal_distribution<float> normal;
  std::vector<std::uint8_t> codes(count);
  for (std::uint8_t& code : codes) {
    if (values == Values::normal || values == Values::tiny) {
      const float x = normal(random) * (values == Values::tiny ? 1e-4F : 1.0F);
      code = static_cast<std::uint8_t>(convert(fp32_bits(x), {.to = format}).code);
    } else {
      do {
        code = static_cast<std::uint8_t>(random() & format.code_mask());
      } while (values == Values::finite && (format.is_nan(code) || format.is_inf(code)));
      // One special among many numbers reaches more of the code than a NaN everywhere.
      if (values == Values::any && random() % 16 != 0)
        code = static_cast<std::uint8_t>(format.max_code() / 2);
    }
  }
  return codes;
}

struct Problem {
  std::vector<std::uint8_t> a, b;
  GemmOperands operands;

  Problem(int m, int n, int k, const Format& a_format, const Format& b_format, Values values,
          std::uint64_t seed) {
    test::Random random(seed);
    a = random_codes(static_cast<std::size_t>(m) * k, a_format, values, random);
    b = random_codes(static_cast<std::size_t>(k) * n, b_format, values, random);
    operands = {m, n, k, a, b, a_format, b_format};
  }
  std::size_t outputs() const { return operands.m * operands.n; }
};

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(fp32_bits(value));
  return bits;
}

void expect_equal_everywhere(const Problem& problem, const GemmOptions& options,
                             std::span<const float> expected, GemmCounts counts = {}) {
  test::on_every_target([&](const std::string& target) {
    for (const int threads : {1, 2}) {
      std::vector<float> c(problem.outputs(), -1.0F);
      const GemmCounts met = kernels::gemm(problem.operands, options, c, threads);
      ASSERT_EQ(bits_of(c), bits_of(expected))
          << target << ", " << threads << " threads, " << problem.operands.a_format.name() << " x "
          << problem.operands.b_format.name() << ", " << options.accumulator.name();
      ASSERT_EQ(met, counts);
    }
  });
}

void expect_golden(const Problem& problem, const GemmOptions& options) {
  std::vector<float> expected(problem.outputs());
  const GemmCounts counts = gemm(problem.operands, options, expected);
  expect_equal_everywhere(problem, options, expected, counts);
}

// Whether memory is touched rightly does not depend on the operands' formats: a build with sanitizers, which
// takes ten times as long, takes every fourth pair.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t pair_stride = 4;
#else
constexpr std::uint64_t pair_stride = 1;
#endif

class GemmKernel : public testing::TestWithParam<const char*> {};

TEST_P(GemmKernel, EqualsTheScalarModel) {
  const std::string kind = GetParam();
  const bool aligned = kind.starts_with("aligned");
  std::uint64_t seed = 1;
  std::uint64_t pair = 0;
  for (const char* acc :
       {"fp32", "fp16", "bf16", "e6m5", "e6m9", "e6m15", "e5m2", "e8m3", "e4m0", "e8m22", "e4m23"}) {
    for (const char* round : {"rne", "rna", "rnz", "rtz", "sr:8", "sr:13", "sr:16"}) {
      if (aligned && std::string(round) != "rne") continue;  // it truncates, whatever is asked for
      for (const auto& [a, b] :
           {std::pair(formats::e5m2, formats::e5m2), std::pair(formats::e4m3, formats::e5m2),
            std::pair(formats::e4m3, formats::e4m3)}) {
        if (pair++ % pair_stride != 0) continue;
        for (const Values values : {Values::normal, Values::tiny, Values::finite, Values::any}) {
          const Problem problem(9, 37, 61, a, b, values, ++seed);
          GemmOptions options;
          options.accumulator = Accumulator::parse(kind, Format::parse(acc), Rounding::parse(round));
          options.rows = 5;
          // Tiles that divide a vector, that do not, and that are wider than one.
          options.draws = {
              .run_seed = seed, .stream = 3, .lanes = seed % 3 == 0 ? 16 : (seed % 3 == 1 ? 12 : 70)};
          options.first_tile = static_cast<std::int64_t>(seed % 5);
          expect_golden(problem, options);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, GemmKernel,
                         testing::Values("plain", "chunk:4", "chunk:7", "fused:4", "fused:300", "kulisch",
                                         "aligned:4,6", "aligned:8,14", "aligned:3,23", "aligned:32,13",
                                         "aligned:5,40", "aligned:4,6,rne", "aligned:16,13,rne",
                                         "aligned:3,40,rne"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name) {
                             if (c == ':' || c == ',') c = '_';
                           }
                           return name;
                         });

// Any format, bias, option and array shape: corners that nobody thought of.
TEST(GemmKernel, RandomDesignPointsEqualTheScalarModel) {
  test::Random random(2024);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  int tried = 0;
  while (tried < 1500) {
    const auto operand_format = [&] {
      const int exponent = pick(2, 6);
      Format format{exponent, pick(0, 7 - exponent), (1 << (exponent - 1)) - 1,
                    static_cast<Specials>(pick(0, 3))};
      if (pick(0, 2) == 0) format.bias += pick(-40, 40);
      return format;
    };
    const Format a = operand_format();
    const Format b = operand_format();
    const int exponent = pick(2, 8);
    Format acc{exponent, pick(0, 23), (1 << (exponent - 1)) - 1, Specials::ieee};
    if (pick(0, 2) == 0) acc.bias += pick(-20, 20);
    const int group = pick(1, 40);
    const std::string kinds[] = {"plain", "chunk:" + std::to_string(group), "fused:" + std::to_string(group),
                                 "kulisch",
                                 "aligned:" + std::to_string(group) + "," + std::to_string(pick(1, 45)) +
                                     (pick(0, 1) == 0 ? "" : ",rne")};
    const Rounding roundings[] = {Rounding::rne(), Rounding::rtz(), Rounding::sr(pick(1, 32)),
                                  Rounding::rna(), Rounding::rnz()};
    GemmOptions options;
    try {
      options.accumulator = Accumulator::parse(kinds[pick(0, 4)], acc, roundings[pick(0, 4)]);
      options.rows = pick(1, 20);
      options.first_tile = pick(0, 1000);
      options.skip_zero_a = pick(0, 1) == 0;
      options.draws = {.run_seed = random(), .stream = random(), .lanes = pick(1, 40), .leap = 32};
      const Problem problem(pick(1, 7), pick(1, 45), pick(1, 40), a, b, static_cast<Values>(pick(0, 3)),
                            random());
      expect_golden(problem, options);
    } catch (const std::invalid_argument&) {
      continue;  // formats that FP32 cannot hold are refused
    }
    ++tried;
    if (HasFatalFailure()) return;
  }
}

// Chunks of aligned sums: any inner and outer format, both orders, chunks that their groups do not divide.
TEST(GemmKernel, ChunksOfAlignedSumsEqualTheScalarModel) {
  test::Random random(12);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  const char* const names[] = {"fp32", "fp16", "bf16", "e8m13", "e6m9", "e5m2", "e4m3"};
  for (int run = 0; run < 400 && !HasFatalFailure(); ++run) {
    GemmOptions options;
    Accumulator& how = options.accumulator;
    how = Accumulator::parse("chunk:" + std::to_string(pick(1, 40)), Format::parse(names[pick(0, 6)]),
                             pick(0, 5) == 0 ? Rounding::sr(8) : Rounding::rne());
    how.inner_format = Format::parse(names[pick(0, 6)]);
    how.inner = AlignedGroup{.group = pick(1, 20), .bits = pick(1, 40), .nearest = pick(0, 1) == 0};
    how.order = pick(0, 1) == 0 ? Accumulator::Order::ascending : Accumulator::Order::pairs;
    options.skip_zero_a = pick(0, 1) == 0;
    expect_golden(
        Problem(pick(1, 7), pick(1, 45), pick(1, 90), pick(0, 1) == 0 ? formats::e5m2 : formats::e4m3,
                formats::e4m3, static_cast<Values>(pick(0, 3)), random()),
        options);
  }
}

TEST(GemmKernel, PresetsEqualTheScalarModel) {
  std::uint64_t seed = 900;
  for (const AccumulatorPreset& preset : accumulator_presets()) {
    for (const Format& format : {formats::e5m2, formats::e4m3}) {
      for (const Values values : {Values::normal, Values::tiny, Values::finite, Values::any}) {
        GemmOptions options;
        options.accumulator = preset.accumulator;
        expect_golden(Problem(5, 37, 300, format, format, values, ++seed), options);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Aligned sums just below FP32's largest number, where a rounding constant would overflow, and accumulators
// of 24 significant bits, where none fits a float: too rare among random points.
TEST(GemmKernel, AlignedSumsAtTheEndOfFloat) {
  test::Random random(7);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  int tried = 0;
  while (tried < 300) {
    Format a = formats::e5m2;
    Format b = formats::e5m2;
    a.bias -= pick(30, 48);
    b.bias -= pick(30, 48);
    Format acc{8, pick(0, 8), 127, Specials::ieee};
    if (tried % 3 == 0) acc = Format::parse("e" + std::to_string(pick(4, 7)) + "m23");
    if (tried % 3 == 0) a = b = formats::e4m3;
    GemmOptions options;
    const std::string kind = "aligned:" + std::to_string(pick(1, 8)) + "," + std::to_string(pick(1, 14));
    try {
      options.accumulator = Accumulator::parse(kind, acc, Rounding::rtz());
      expect_golden(Problem(5, 35, pick(1, 30), a, b, Values::finite, random()), options);
    } catch (const std::invalid_argument&) {
      continue;  // products that FP32 cannot hold are refused
    }
    ++tried;
    if (HasFatalFailure()) return;
  }
}

TEST(GemmKernel, BlocksOfKJoin) {
  for (const char* kind : {"plain", "chunk:100", "fused:3", "fused:700", "kulisch", "aligned:48,14"}) {
    for (const char* round : {"rne", "sr:8"}) {
      const Problem problem(3, 40, 1100, formats::e5m2, formats::e4m3, Values::normal, 4);
      GemmOptions options;
      options.accumulator = Accumulator::parse(kind, formats::fp16, Rounding::parse(round));
      expect_golden(problem, options);
    }
  }
}

TEST(GemmKernel, Fp32EqualsTheHardwareFma) {
  for (const auto& [m, n, k] :
       {std::tuple(1, 1, 1), std::tuple(205, 70, 600), std::tuple(13, 2100, 33), std::tuple(400, 3, 1100)}) {
    for (const Values values : {Values::normal, Values::any}) {
      const Problem problem(m, n, k, formats::e4m3, formats::e5m2, values, 11);
      std::vector<float> a(problem.a.size());
      std::vector<float> b(problem.b.size());
      dequantize<std::uint8_t>(problem.a, {.to = formats::e4m3}, a);
      dequantize<std::uint8_t>(problem.b, {.to = formats::e5m2}, b);
      std::vector<float> expected(problem.outputs());
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          float acc = 0.0F;
          for (int l = 0; l < k; ++l) acc = std::fma(a[i * k + l], b[l * n + j], acc);
          expected[i * n + j] = std::isnan(acc) ? fp32_value(0x7FC00000U) : acc;
        }
      }
      expect_equal_everywhere(problem, {}, expected);
    }
  }
}

TEST(GemmKernel, SkippingZerosSuppressesInfAndNan) {
  Problem problem(6, 40, 30, formats::e5m2, formats::e5m2, Values::normal, 5);
  for (std::size_t i = 0; i < problem.a.size(); i += 3) problem.a[i] = i % 2 == 0 ? 0x00 : 0x80;
  problem.b[17 * 40 + 5] = 0x7C;   // Inf meets a zero of A in some rows
  problem.b[18 * 40 + 33] = 0x7E;  // NaN likewise
  for (const char* acc : {"fp32", "fp16"}) {
    GemmOptions options;
    options.accumulator = Accumulator::parse("plain", Format::parse(acc), Rounding::rne());
    options.skip_zero_a = true;
    std::vector<float> expected(problem.outputs());
    const GemmCounts counts = gemm(problem.operands, options, expected);
    EXPECT_GT(counts.suppressed, 0U);
    expect_equal_everywhere(problem, options, expected, counts);
    options.skip_zero_a = false;
    expect_golden(problem, options);
  }
}

TEST(GemmKernel, FormatsWithoutAVectorFormAreTheScalarModels) {
  for (const char* acc : {"fp16:fn", "e6m9:fnuz", "e5m10:bias=10"}) {
    const Problem problem(4, 20, 25, Format::parse("e4m3:fnuz"), Format::parse("e3m4"), Values::finite, 6);
    for (const char* kind : {"plain", "chunk:8", "aligned:4,60"}) {
      GemmOptions options;
      options.accumulator = Accumulator::parse(kind, Format::parse(acc), Rounding::parse("sr:16"));
      expect_golden(problem, options);
    }
  }
  // A chunk whose inner accumulator is another one.
  const Problem problem(4, 20, 25, formats::e5m2, formats::e5m2, Values::normal, 7);
  GemmOptions options;
  options.accumulator = Accumulator::parse("chunk:6", formats::fp32, Rounding::rne());
  options.accumulator.inner_format = formats::fp16;
  expect_golden(problem, options);
}

TEST(GemmKernel, NothingToAddGivesZeros) {
  for (const char* kind : {"plain", "chunk:2", "kulisch", "aligned:2,8"}) {
    for (const char* acc : {"fp32", "fp16"}) {
      const Problem problem(3, 4, 0, formats::e5m2, formats::e5m2, Values::normal, 8);
      GemmOptions options;
      options.accumulator = Accumulator::parse(kind, Format::parse(acc), Rounding::rne());
      expect_equal_everywhere(problem, options, std::vector<float>(12, 0.0F));
    }
  }
  const Problem empty(0, 0, 5, formats::e5m2, formats::e5m2, Values::normal, 8);
  expect_equal_everywhere(empty, {}, {});
}

TEST(GemmKernel, RefusesWhatTheScalarModelRefuses) {
  Problem problem(2, 2, 2, formats::e5m2, formats::e5m2, Values::normal, 9);
  std::vector<float> c(4);
  std::vector<float> few(3);
  EXPECT_THROW(kernels::gemm(problem.operands, {}, few), std::invalid_argument);
  GemmOptions options;
  options.accumulator.rounding = Rounding::sr(20);  // more random bits than the leap of 16
  EXPECT_THROW(kernels::gemm(problem.operands, options, c), std::invalid_argument);
  options.accumulator.rounding = Rounding::sr(-3);
  EXPECT_THROW(kernels::gemm(problem.operands, options, c), std::invalid_argument);
  options.accumulator = {.kind = Accumulator::Kind::fused, .group = 0};
  EXPECT_THROW(kernels::gemm(problem.operands, options, c), std::invalid_argument);
  options.accumulator = {.kind = Accumulator::Kind::aligned, .aligned = {.group = 4, .bits = 65}};
  EXPECT_THROW(kernels::gemm(problem.operands, options, c), std::invalid_argument);
  GemmOperands endless;
  endless.m = std::int64_t{1} << 62;
  EXPECT_THROW(kernels::gemm(endless, {}, {}), std::invalid_argument);
  options = {};
  options.draws.lanes = 0;
  EXPECT_THROW(kernels::gemm(problem.operands, options, c), std::invalid_argument);
  problem.operands.a_format = Format::parse("e5m2:bias=200");
  EXPECT_THROW(kernels::gemm(problem.operands, {}, c), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa

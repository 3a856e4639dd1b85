// The stochastic pruner against an independent reference program, brute-force rationals, and the sparsity
// that the lognormal closed form promises.
#include "models/sparsity/pruner.hpp"

#include <gmp.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/sparsity/lognormal.hpp"
#include "testbench/models/sparsity/lognormal_data.hpp"
#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

using test::arith_cases;
using test::hex32;
using Outcome = Pruned::Outcome;

std::string counter_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::zero_in:
      return "zeros in";
    case Outcome::kept:
      return "kept";
    case Outcome::snapped:
      return "snapped";
    case Outcome::zero_made:
      return "zeros made";
  }
  return "";
}

TEST(Pruner, EqualsReferenceProgram) {
  ASSERT_EQ(arith_cases("prune").size(), 150U);
  for (const auto& one : arith_cases("prune")) {
    const Pruner pruner{.format = Format::parse(one["format"].get<std::string>()),
                        .tau = hex32(one["tau"]),
                        .random_bits = one["r"]};
    pruner.check();
    const Pruned result = prune(hex32(one["g"]), pruner, hex32(one["R"]));
    ASSERT_EQ(result.code, hex32(one["code"])) << one;
    ASSERT_EQ(result.nonzero() ? 1 : 0, one["nonzero"].get<int>()) << one;
    ASSERT_EQ(counter_name(result.outcome), one["counter"].get<std::string>()) << one;
  }
}

// |g| * 2^r >= (2^r - R) * tau in rational arithmetic.
class Rational {
 public:
  Rational() { mpq_init(value_); }
  ~Rational() { mpq_clear(value_); }
  Rational(const Rational&) = delete;
  Rational& operator=(const Rational&) = delete;
  void set(double value) { mpq_set_d(value_, std::fabs(value)); }
  void multiply(std::uint64_t factor) {
    mpq_t whole;
    mpq_init(whole);
    mpq_set_ui(whole, factor, 1);
    mpq_mul(value_, value_, whole);
    mpq_clear(whole);
  }
  bool at_least(const Rational& other) const { return mpq_cmp(value_, other.value_) >= 0; }

 private:
  mpq_t value_;
};

Pruned oracle(std::uint32_t g, const Pruner& pruner, std::uint64_t r) {
  const double value = to_double(g, pruner.format);
  const double tau = to_double(pruner.tau, pruner.format);
  if (value == 0) return {0, Outcome::zero_in};
  if (std::isnan(value) || std::fabs(value) >= tau) return {g, Outcome::kept};
  Rational left;
  left.set(value);
  left.multiply(std::uint64_t{1} << pruner.random_bits);
  Rational right;
  right.set(tau);
  right.multiply((std::uint64_t{1} << pruner.random_bits) - r);
  if (!left.at_least(right)) return {0, Outcome::zero_made};
  return {value < 0 ? pruner.tau | pruner.format.sign_bit() : pruner.tau, Outcome::snapped};
}

TEST(Pruner, EveryPairOfEightBitCodesEqualsRationalArithmetic) {
  std::mt19937_64 engine(41);
  for (const char* name : {"e5m2", "e4m3", "e4m3:fnuz", "e3m4:finite"}) {
    const Format format = Format::parse(name);
    for (std::uint32_t tau = 0; tau <= format.max_code(); ++tau) {
      const Pruner pruner{.format = format, .tau = tau, .random_bits = 5};
      for (std::uint32_t g = 0; g < 256; ++g) {
        const auto r = static_cast<std::uint32_t>(engine() & 31);
        ASSERT_EQ(prune(g, pruner, r), oracle(g, pruner, r)) << name << " " << g << " " << tau << " " << r;
      }
    }
  }
}

// Draws next to the exact border, where a comparison with one bit too few would fail.
TEST(Pruner, BorderDrawsEqualRationalArithmetic) {
  std::mt19937_64 engine(42);
  int snapped = 0;
  int made = 0;
  for (const int bits : {1, 8, 16, 31, 32}) {
    for (int i = 0; i < 20000; ++i) {
      const auto tau = static_cast<std::uint32_t>(engine() % formats::fp32.max_code() + 1);
      // Up to 2^bits below tau, or anywhere in the subnormals' reach.
      const std::uint32_t span = std::min(tau, static_cast<std::uint32_t>(bits + 1) << 23);
      const auto sign = static_cast<std::uint32_t>(engine() & 1) << 31;
      const std::uint32_t g = sign | (tau - static_cast<std::uint32_t>(engine() % span));
      const double scale = std::ldexp(1.0, bits);
      const double ratio = std::fabs(to_double(g, formats::fp32)) / to_double(tau, formats::fp32);
      const double border = scale - std::floor(ratio * scale);
      const double draw = std::clamp(border + static_cast<double>(engine() % 3) - 1, 0.0, scale - 1);
      const auto r = static_cast<std::uint32_t>(draw);
      const Pruner pruner{.tau = tau, .random_bits = bits};
      const Pruned result = prune(g, pruner, r);
      ASSERT_EQ(result, oracle(g, pruner, r)) << std::hex << g << " " << tau << " " << r;
      snapped += result.outcome == Outcome::snapped ? 1 : 0;
      made += result.outcome == Outcome::zero_made ? 1 : 0;
    }
  }
  EXPECT_GT(snapped, 20000);
  EXPECT_GT(made, 20000);
}

TEST(Pruner, OverAllDrawsTheProbabilityIsTheRatio) {
  // tau = 1.5, |g| = 0.7: floor(256 * 0.4666..) = 119 of 256 draws snap.
  const Pruner pruner{.tau = fp32_bits(1.5F), .random_bits = 8};
  int snapped = 0;
  for (std::uint32_t r = 0; r < 256; ++r) {
    snapped += prune(fp32_bits(-0.7F), pruner, r).code == fp32_bits(-1.5F) ? 1 : 0;
  }
  EXPECT_EQ(snapped, 119);
}

TEST(Pruner, SpecialValuesPass) {
  const Pruner pruner{.tau = fp32_bits(1.0F)};
  EXPECT_EQ(prune(0x7F800000U, pruner, 0), (Pruned{0x7F800000U, Outcome::kept}));
  EXPECT_EQ(prune(0xFF800000U, pruner, 0), (Pruned{0xFF800000U, Outcome::kept}));
  EXPECT_EQ(prune(0x7F800001U, pruner, 0), (Pruned{0x7F800001U, Outcome::kept}));  // not made quiet
  EXPECT_EQ(prune(0x80000000U, pruner, 0xFFFF), (Pruned{0, Outcome::zero_in}));
  EXPECT_EQ(prune(0, pruner, 0xFFFF), (Pruned{0, Outcome::zero_in}));
  const Format fnuz = Format::parse("e4m3:fnuz");
  EXPECT_EQ(prune(0x80, {.format = fnuz, .tau = 0x40}, 0), (Pruned{0x80, Outcome::kept}));
  // tau = 0 keeps every number.
  EXPECT_EQ(prune(1, {.tau = 0}, 0), (Pruned{1, Outcome::kept}));
}

TEST(Pruner, RefusesBadThresholds) {
  const auto check = [](const char* format, std::uint32_t tau, int bits = 16) {
    Pruner{.format = Format::parse(format), .tau = tau, .random_bits = bits}.check();
  };
  EXPECT_NO_THROW(check("fp32", fp32_bits(-0.0F)));
  EXPECT_NO_THROW(check("e5m2", 0x7B));
  EXPECT_THROW(check("e5m2", 0x7C), std::invalid_argument);   // Inf
  EXPECT_THROW(check("e5m2", 0x7E), std::invalid_argument);   // NaN
  EXPECT_THROW(check("e5m2", 0x81), std::invalid_argument);   // negative
  EXPECT_THROW(check("e5m2", 0x100), std::invalid_argument);  // not a code
  EXPECT_THROW(check("e4m3:fnuz", 0x80), std::invalid_argument);
  EXPECT_THROW(check("fp32", 0, 0), std::invalid_argument);
  EXPECT_THROW(check("fp32", 0, 33), std::invalid_argument);
}

TEST(Pruner, TensorTakesElementDrawsAndSetsNonzeroBits) {
  const std::vector<float> g = test::lognormal_gradient(1003, 0, 2, 43);
  std::vector<std::uint16_t> codes(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    codes[i] = static_cast<std::uint16_t>(convert(fp32_bits(g[i]), {.to = formats::bf16}).code);
  }
  codes[5] = 0x8000;
  const Pruner pruner{.format = formats::bf16, .tau = tau_code(2.7, formats::bf16), .random_bits = 9};
  const DrawSource source{.run_seed = 8, .stream = 2, .lanes = 6, .leap = 11};
  std::vector<std::uint16_t> out(g.size());
  std::vector<std::uint8_t> nonzero((g.size() + 7) / 8, 0xFF);
  const PruneCounts counts = prune_tensor<std::uint16_t>(codes, pruner, source, out, nonzero);
  PruneCounts expected;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::uint32_t draw = source.lane(i % 6, i / 6).draw();
    const Pruned one = oracle(codes[i], pruner, draw & 511);
    ASSERT_EQ(out[i], one.code) << i;
    ASSERT_EQ((nonzero[i / 8] >> (i % 8)) & 1, out[i] != 0 ? 1 : 0) << i;
    expected.add(one.outcome);
  }
  EXPECT_EQ(nonzero.back() >> (g.size() % 8), 0);
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(counts.elements(), g.size());
  EXPECT_EQ(counts.zeros_in, 1U);
  // In place gives the same.
  prune_tensor<std::uint16_t>(codes, pruner, source, codes);
  EXPECT_EQ(codes, out);
}

TEST(Pruner, TensorRefusesWhatDoesNotFit) {
  std::vector<float> g(9);
  std::vector<float> out(9);
  std::vector<std::uint8_t> codes(9);
  std::vector<std::uint8_t> mask(1);
  EXPECT_THROW(prune_tensor<float>(g, {}, {}, std::span(out).first(8)), std::invalid_argument);
  EXPECT_THROW(prune_tensor<float>(g, {}, {}, out, mask), std::invalid_argument);
  EXPECT_THROW(prune_tensor<float>(g, {.format = formats::fp16}, {}, out), std::invalid_argument);
  EXPECT_THROW(prune_tensor<std::uint8_t>(codes, {.format = formats::fp16}, {}, codes),
               std::invalid_argument);
  EXPECT_THROW(prune_tensor<float>(g, {.random_bits = 17}, {.leap = 16}, out), std::invalid_argument);
}

// The counted zeros of every cell of the threshold table, and the mean, within five standard errors.
TEST(Pruner, CountedSparsityAndMeanOnLognormalData) {
  const std::size_t count = 400000;
  std::uint64_t seed = 100;
  for (const test::ThresholdRow& row : test::threshold_table) {
    const std::vector<float> g = test::lognormal_gradient(count, -8, row.sigma, seed++);
    for (std::size_t i = 0; i < row.log2_alpha.size(); ++i) {
      const double tau = std::exp(-8 + row.log2_alpha[i] * std::numbers::ln2);
      const Pruner pruner{.tau = tau_code(tau, formats::fp32)};
      std::vector<float> pruned(count);
      const PruneCounts counts = prune_tensor<float>(g, pruner, {.run_seed = seed++}, pruned);
      const double sparsity = test::table_sparsity[i];
      // Half a unit of the table's last digit moves the sparsity by less than 0.0002.
      EXPECT_NEAR(static_cast<double>(counts.zeros_made) / count, sparsity,
                  5 * std::sqrt(sparsity * (1 - sparsity) / count) + 0.0002)
          << row.sigma << " " << sparsity;
      const double register_tau = to_double(pruner.tau, formats::fp32);
      double drift = 0;
      double variance = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const double magnitude = std::fabs(g[j]);
        drift += std::fabs(pruned[j]) - magnitude;
        if (magnitude < register_tau) variance += magnitude * (register_tau - magnitude);
      }
      // Sixteen random bits leave less than 2^-16 of tau per element.
      EXPECT_NEAR(drift, 0, 5 * std::sqrt(variance) + count * register_tau * 0x1p-16)
          << row.sigma << " " << sparsity;
    }
  }
}

}  // namespace
}  // namespace mantissa

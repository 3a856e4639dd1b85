// Every accumulator option of the golden GEMM against a reference written on MPFR numbers, and the rules for
// special values and skipping (ARITHMETIC.md 4, 7).
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/accumulator_preset.hpp"
#include "models/mac/gemm.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

using test::Real;
namespace oracle = test::oracle;

struct Problem {
  GemmOperands operands;
  GemmOptions options;
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;

  std::vector<std::uint32_t> run(GemmCounts* counts = nullptr) {
    operands.a = a;
    operands.b = b;
    std::vector<float> c(operands.m * operands.n);
    const GemmCounts found = gemm(operands, options, c);
    if (counts != nullptr) *counts = found;
    std::vector<std::uint32_t> bits(c.size());
    std::transform(c.begin(), c.end(), bits.begin(), fp32_bits);
    return bits;
  }
};

// One product as the text has it: exact value, and the sum of the operands' own exponents.
struct Term {
  Real value;
  int exponent;
};

int own_exponent(std::uint32_t code, const Format& format) {
  const auto field = static_cast<int>((code >> format.mantissa_bits) & ((1U << format.exponent_bits) - 1));
  return (field == 0 ? 1 : field) - format.bias;
}

class Reference {
 public:
  Reference(const Problem& problem, std::int64_t row, std::int64_t col)
      : how_(problem.options.accumulator), source_(problem.options.draws), k_(problem.operands.k) {
    const std::int64_t across = (problem.operands.n + source_.lanes - 1) / source_.lanes;
    tile_ = problem.options.first_tile + row / problem.options.rows * across + col / source_.lanes;
    lane_ = col % source_.lanes;
    const Format& a_format = problem.operands.a_format;
    const Format& b_format = problem.operands.b_format;
    for (std::int64_t k = 0; k < k_; ++k) {
      const std::uint32_t a = problem.a[row * k_ + k];
      const std::uint32_t b = problem.b[k * problem.operands.n + col];
      const bool absent = problem.options.skip_zero_a && oracle::value(a, a_format).is_zero();
      terms_.push_back({absent ? Real(0.0) : oracle::product({a, a_format}, {b, b_format}).value,
                        own_exponent(a, a_format) + own_exponent(b, b_format)});
    }
  }

  // The output as an FP32 code.
  std::uint32_t result() const {
    const std::uint32_t acc = accumulate();
    const Rounded wide = oracle::convert(acc, {.from = how_.format});
    return wide.code;
  }

 private:
  using Kind = Accumulator::Kind;

  std::uint32_t draw(std::int64_t lane, std::int64_t index) const { return source_.lane(lane, index).draw(); }

  static std::uint32_t rounded(const Real& exact, const Format& format, Rounding rounding,
                               std::uint32_t draw) {
    const std::uint32_t code = oracle::round(exact, format, rounding, draw, Overflow::ieee).code;
    return oracle::value(code, format).is_zero() ? 0 : code;  // +0 inside a GEMM
  }

  std::uint32_t accumulate() const {
    std::uint32_t acc = 0;
    if (how_.kind == Kind::plain) {
      for (std::int64_t k = 0; k < k_; ++k)
        acc = step(acc, k, how_.format, how_.rounding, draw(lane_, tile_ * k_ + k));
      return acc;
    }
    const std::int64_t group = how_.kind == Kind::kulisch   ? k_
                               : how_.kind == Kind::aligned ? how_.aligned.group
                                                            : how_.group;
    const std::int64_t roundings = (k_ + group - 1) / group;
    for (std::int64_t j = 0; j < roundings; ++j) {
      const std::int64_t first = j * group;
      const std::int64_t last = std::min(first + group, k_);
      const std::int64_t index = tile_ * roundings + j;
      if (how_.kind == Kind::chunk) {
        acc = chunk(acc, first, last, index);
      } else if (!all_zero(first, last)) {
        acc = how_.kind == Kind::aligned
                  ? aligned(acc, {terms_.begin() + first, terms_.begin() + last}, how_.aligned, how_.format)
                  : fused(acc, first, last, draw(lane_, index));
      }
    }
    return acc;
  }

  bool all_zero(std::int64_t first, std::int64_t last) const {
    for (std::int64_t k = first; k < last; ++k) {
      if (!terms_[k].value.is_zero()) return false;
    }
    return true;
  }

  std::uint32_t step(std::uint32_t acc, std::int64_t k, const Format& format, Rounding rounding,
                     std::uint32_t draw) const {
    return rounded(oracle::value(acc, format) + terms_[k].value, format, rounding, draw);
  }

  std::uint32_t chunk(std::uint32_t outer, std::int64_t first, std::int64_t last, std::int64_t index) const {
    std::uint32_t inner = 0;
    if (how_.inner) inner = aligned_chunk(first, last);
    for (std::int64_t k = first; k < last && !how_.inner; ++k)
      inner = step(inner, k, how_.inner_format, how_.inner_rounding, draw(lane_, tile_ * k_ + k));
    const Real sum = oracle::value(outer, how_.format) + oracle::value(inner, how_.inner_format);
    return rounded(sum, how_.format, how_.rounding, draw(source_.lanes + lane_, index));
  }

  // MPFR's own sum gives NaN for any NaN and for Inf of both signs, else Inf: the rule for groups.
  std::uint32_t fused(std::uint32_t acc, std::int64_t first, std::int64_t last, std::uint32_t draw) const {
    Real sum = oracle::value(acc, how_.format);
    for (std::int64_t k = first; k < last; ++k) sum = sum + terms_[k].value;
    return rounded(sum, how_.format, how_.rounding, draw);
  }

  // Numbers in the chunk are halved by their second bit, as the text says.
  std::uint32_t aligned_chunk(std::int64_t first, std::int64_t last) const {
    std::vector<Term> dealt;
    const bool pairs = how_.order == Accumulator::Order::pairs;
    for (const std::int64_t bit : {0, 2}) {
      for (std::int64_t i = 0; i < last - first; ++i) {
        if (pairs ? (i & 2) == bit : bit == 0) dealt.push_back(terms_[first + i]);
      }
    }
    std::uint32_t sum = 0;
    while (!dealt.empty()) {
      const auto size = std::min<std::ptrdiff_t>(how_.inner->group, std::ssize(dealt));
      const std::vector<Term> some(dealt.begin(), dealt.begin() + size);
      dealt.erase(dealt.begin(), dealt.begin() + size);
      const bool zeros =
          std::all_of(some.begin(), some.end(), [](const Term& t) { return t.value.is_zero(); });
      if (!zeros) sum = aligned(sum, some, *how_.inner, how_.inner_format);
    }
    return sum;
  }

  static std::uint32_t aligned(std::uint32_t acc, std::vector<Term> all, const AlignedGroup& how,
                               const Format& format) {
    all.push_back({oracle::value(acc, format), own_exponent(acc, format)});
    std::optional<int> largest;
    for (const Term& term : all) {
      if (!term.value.is_zero()) largest = std::max(largest.value_or(term.exponent), term.exponent);
    }
    Real sum(0.0);
    for (const Term& term : all) {
      const int unit = largest.value() - how.bits;
      Real whole;
      mpfr_trunc(whole.mpfr(), term.value.scaled(-unit).mpfr());
      sum = sum + whole.scaled(unit);
    }
    return rounded(sum, format, how.nearest ? Rounding::rne() : Rounding::rtz(), 0);
  }

  const Accumulator& how_;
  const DrawSource& source_;
  std::int64_t k_;
  std::int64_t tile_ = 0;
  std::int64_t lane_ = 0;
  std::vector<Term> terms_;
};

// Codes around the middle of the format with some zeros, so that sums neither vanish nor blow up; `wild`: any
// code.
std::vector<std::uint8_t> random_matrix(std::size_t size, const Format& format, bool wild,
                                        test::Random& random) {
  std::vector<std::uint8_t> codes(size);
  for (std::uint8_t& code : codes) {
    const std::uint64_t choice = random() % 8;
    if (wild) {
      code = static_cast<std::uint8_t>(random() & format.code_mask());
    } else if (choice == 0) {
      code =
          static_cast<std::uint8_t>(random() % 2 == 0 || !format.has_negative_zero() ? 0 : format.sign_bit());
    } else {
      code = static_cast<std::uint8_t>(test::code_near(format, 0, choice < 6 ? 3 : 6, random));
    }
  }
  return codes;
}

Problem random_problem(const Accumulator& accumulator, bool wild, test::Random& random) {
  const char* const operand_formats[] = {"e5m2", "e4m3", "e2m3", "e4m3:fnuz"};
  Problem problem;
  problem.operands.m = 1 + static_cast<std::int64_t>(random() % 5);
  problem.operands.n = 1 + static_cast<std::int64_t>(random() % 7);
  problem.operands.k = 1 + static_cast<std::int64_t>(random() % 20);
  problem.operands.a_format = Format::parse(operand_formats[random() % 4]);
  problem.operands.b_format = Format::parse(operand_formats[random() % 4]);
  problem.a = random_matrix(problem.operands.m * problem.operands.k, problem.operands.a_format, wild, random);
  problem.b = random_matrix(problem.operands.k * problem.operands.n, problem.operands.b_format, wild, random);
  problem.options.accumulator = accumulator;
  problem.options.skip_zero_a = random() % 2 == 0;
  problem.options.rows = 1 + static_cast<int>(random() % 3);
  problem.options.first_tile = static_cast<std::int64_t>(random() % 4);
  problem.options.draws = {
      .run_seed = random(), .stream = random(), .lanes = 1 + static_cast<int>(random() % 4)};
  return problem;
}

TEST(Gemm, EveryOptionEqualsMpfr) {
  test::Random random(1);
  for (const char* kind :
       {"plain", "chunk:1", "chunk:4", "chunk:64", "fused:1", "fused:4", "fused:8", "aligned:1,4",
        "aligned:4,7", "aligned:4,13", "aligned:8,24", "aligned:3,62", "aligned:3,63", "aligned:3,64",
        "aligned:4,7,rne", "aligned:8,24,rne", "kulisch"}) {
    for (const char* format : {"fp32", "fp16", "bf16", "e6m9", "e4m3", "e3m2", "e5m3:fnuz", "e8m3"}) {
      for (const char* rounding : {"rne", "rna", "rnz", "rtz", "sr:4", "sr:16"}) {
        Accumulator accumulator = Accumulator::parse(kind, Format::parse(format), Rounding::parse(rounding));
        if (random() % 2 == 0) {
          accumulator.inner_format = Format::parse("e6m5");
          accumulator.inner_rounding = Rounding::sr(7);
        }
        for (int run = 0; run < 8; ++run) {
          Problem problem = random_problem(accumulator, run >= 5, random);
          const std::vector<std::uint32_t> c = problem.run();
          for (std::int64_t i = 0; i < problem.operands.m * problem.operands.n; ++i) {
            const Reference reference(problem, i / problem.operands.n, i % problem.operands.n);
            ASSERT_EQ(c[i], reference.result())
                << accumulator.name() << " run " << run << " output " << i << " K " << problem.operands.k;
          }
        }
      }
    }
  }
}

TEST(Gemm, ChunksOfAlignedSumsEqualMpfr) {
  test::Random random(2);
  for (const char* chunk : {"chunk:1", "chunk:7", "chunk:16", "chunk:64"}) {
    for (const char* inner :
         {"aligned:1,4", "aligned:4,7", "aligned:4,7,rne", "aligned:8,25", "aligned:8,25,rne"}) {
      for (const char* format : {"fp32", "fp16", "e8m13", "e4m3"}) {
        for (const char* rounding : {"rne", "rtz", "sr:4"}) {
          Accumulator how = Accumulator::parse(chunk, Format::parse(format), Rounding::parse(rounding));
          how.inner = Accumulator::parse_inner(inner);
          if (random() % 2 == 0) how.inner_format = Format::parse("e6m5");
          if (random() % 2 == 0) how.order = Accumulator::Order::pairs;
          for (int run = 0; run < 4; ++run) {
            Problem problem = random_problem(how, run >= 3, random);
            const std::vector<std::uint32_t> c = problem.run();
            for (std::int64_t i = 0; i < problem.operands.m * problem.operands.n; ++i) {
              const Reference reference(problem, i / problem.operands.n, i % problem.operands.n);
              ASSERT_EQ(c[i], reference.result()) << how.name() << " run " << run << " output " << i;
            }
          }
        }
      }
    }
  }
}

// Outputs of every preset, about as many as asked for: sums that are ordinary, subnormal, cancelled,
// infinite, NaN.
void check_presets(std::int64_t outputs) {
  test::Random random(3);
  const auto presets = accumulator_presets();
  for (std::int64_t done = 0; done < outputs;) {
    for (const AccumulatorPreset& preset : presets) {
      Problem problem = random_problem(preset.accumulator, random() % 8 == 0, random);
      problem.operands.m = 16;
      problem.operands.n = 16;
      problem.operands.k = 1 + static_cast<std::int64_t>(random() % (random() % 4 == 0 ? 300 : 64));
      const auto matrix = [&](std::int64_t size, const Format& format) {
        return random_matrix(static_cast<std::size_t>(size), format, random() % 8 == 0, random);
      };
      problem.a = matrix(problem.operands.m * problem.operands.k, problem.operands.a_format);
      problem.b = matrix(problem.operands.k * problem.operands.n, problem.operands.b_format);
      const std::vector<std::uint32_t> c = problem.run();
      for (std::int64_t i = 0; i < std::ssize(c); ++i) {
        const Reference reference(problem, i / problem.operands.n, i % problem.operands.n);
        ASSERT_EQ(c[i], reference.result())
            << preset.name << " output " << i << " K " << problem.operands.k << " "
            << problem.operands.a_format.name() << " x " << problem.operands.b_format.name();
      }
      done += std::ssize(c);
    }
  }
}

TEST(Gemm, PresetsEqualMpfr) { check_presets(5000); }
TEST(LongGemm, PresetsEqualMpfr) { check_presets(7'000'000); }

// 1, 1, 1/8, 1/8 twice, in chunks of eighths and quarters: the worked numbers of ARITHMETIC.md 4.
TEST(Gemm, OrderOfAChunk) {
  constexpr std::uint8_t eighth = 0x30;
  constexpr std::uint8_t unit = 0x3C;
  const std::vector<std::uint8_t> a{unit, unit, eighth, eighth, unit, unit, eighth, eighth};
  const auto sum = [&](Accumulator::Order order) {
    Problem problem;
    problem.operands.m = problem.operands.n = 1;
    problem.operands.k = std::ssize(a);
    problem.a = a;
    problem.b.assign(a.size(), unit);
    problem.options.accumulator = Accumulator::parse("chunk:8", formats::fp32, Rounding::rne());
    problem.options.accumulator.inner = AlignedGroup{.group = 4, .bits = 3};
    problem.options.accumulator.order = order;
    return fp32_value(problem.run().front());
  };
  EXPECT_EQ(sum(Accumulator::Order::ascending), 4.25F);
  EXPECT_EQ(sum(Accumulator::Order::pairs), 4.0F);
}

// One output from explicit E5M2 codes, A against B.
Problem dot(const char* kind, std::vector<std::uint8_t> a, std::vector<std::uint8_t> b,
            const char* format = "fp32") {
  Problem problem;
  problem.operands.m = problem.operands.n = 1;
  problem.operands.k = static_cast<std::int64_t>(a.size());
  problem.a = std::move(a);
  problem.b = std::move(b);
  problem.options.accumulator = Accumulator::parse(kind, Format::parse(format), Rounding::rne());
  return problem;
}

constexpr std::uint8_t one = 0x3C;
constexpr std::uint8_t minus_one = 0xBC;
constexpr std::uint8_t inf = 0x7C;
constexpr std::uint8_t minus_inf = 0xFC;
constexpr std::uint8_t nan = 0x7F;
constexpr std::uint32_t fp32_nan = 0x7FC00000;
constexpr const char* every_kind[] = {"plain", "chunk:2", "fused:2", "aligned:2,10", "kulisch"};

TEST(Gemm, SpecialValues) {
  for (const char* kind : every_kind) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(dot(kind, {one, nan, one}, {one, one, one}).run().front(), fp32_nan);
    EXPECT_EQ(dot(kind, {inf, one, one}, {one, one, one}).run().front(), 0x7F800000U);
    EXPECT_EQ(dot(kind, {one, one, inf}, {one, one, minus_one}).run().front(), 0xFF800000U);
    EXPECT_EQ(dot(kind, {inf, one, minus_inf}, {one, one, one}).run().front(), fp32_nan);
    EXPECT_EQ(dot(kind, {inf, minus_inf}, {one, one}).run().front(), fp32_nan);
    EXPECT_EQ(dot(kind, {inf, inf}, {one, one}).run().front(), 0x7F800000U);
    EXPECT_EQ(dot(kind, {0, one}, {inf, one}).run().front(), fp32_nan);
    // Zeros: -0 products and cancelled sums are +0.
    EXPECT_EQ(dot(kind, {0x80, 0x80, 0x80}, {one, one, one}).run().front(), 0U);
    EXPECT_EQ(dot(kind, {one, minus_one, 0}, {one, one, one}).run().front(), 0U);
    EXPECT_EQ(dot(kind, {}, {}).run().front(), 0U);
    // A format with neither Inf nor NaN ends at its signed max for Inf, at +max for NaN.
    EXPECT_EQ(dot(kind, {minus_inf}, {one}, "e2m1").run().front(), fp32_bits(-6.0F));
    EXPECT_EQ(dot(kind, {nan}, {minus_one}, "e2m1").run().front(), fp32_bits(6.0F));
  }
}

// 256 + 1 + 1 + 1 in BF16, whose numbers are 2 apart there: the worked numbers of ARITHMETIC.md 4.
TEST(Gemm, TiesGoAsTheModeSays) {
  const auto sum = [](const char* kind, Rounding rounding) {
    Problem problem = dot(kind, {0x5C, one, one, one}, {one, one, one, one}, "bf16");
    problem.options.accumulator = Accumulator::parse(kind, formats::bf16, rounding);
    return fp32_value(problem.run().front());
  };
  const std::tuple<const char*, float, float, float> results[] = {
      {"plain", 256, 262, 256},          {"chunk:2", 258, 260, 258}, {"fused:2", 258, 260, 258},
      {"fused:4", 260, 260, 258},        {"kulisch", 260, 260, 258}, {"aligned:4,8", 258, 258, 258},
      {"aligned:4,8,rne", 260, 260, 260}};
  for (const auto& [kind, rne, rna, rnz] : results) {
    EXPECT_EQ(sum(kind, Rounding::rne()), rne) << kind;
    EXPECT_EQ(sum(kind, Rounding::rna()), rna) << kind;
    EXPECT_EQ(sum(kind, Rounding::rnz()), rnz) << kind;
  }
}

TEST(Gemm, RoundingToZeroGivesPlusZero) {
  for (const char* kind : every_kind) {
    // -2^-16 * 2^-16 is far below half of FP16's smallest number.
    EXPECT_EQ(dot(kind, {0x81}, {0x01}, "fp16").run().front(), 0U) << kind;
  }
}

TEST(Gemm, SkippedZerosAreAbsent) {
  for (const char* kind : every_kind) {
    SCOPED_TRACE(kind);
    GemmCounts counts;
    Problem problem = dot(kind, {0, one, 0x80, 0, 0x81}, {inf, one, nan, one, one});
    EXPECT_EQ(problem.run(&counts).front(), fp32_nan);
    EXPECT_EQ(counts.suppressed, 0U);
    problem.options.skip_zero_a = true;
    const float sum = std::string(kind) == "aligned:2,10" ? 1.0F : 1.0F - 0x1p-16F;
    EXPECT_EQ(problem.run(&counts).front(), fp32_bits(sum));
    EXPECT_EQ(counts.suppressed, 2U);  // 0 against Inf and -0 against NaN, not 0 against 1
    problem.a[0] = nan;                // NaN is not zero
    EXPECT_EQ(problem.run(&counts).front(), fp32_nan);
    EXPECT_EQ(counts.suppressed, 1U);
  }
}

TEST(Gemm, ZeroOnlyGroupsLeaveTheAccumulatorUnchanged) {
  // 1.25 + 1 is summed in quarters to 2.25; a second group would see it in halves and leave 2.
  constexpr std::uint8_t five_quarters = 0x3D;
  constexpr std::uint8_t tiny = 0x01;
  EXPECT_EQ(dot("aligned:2,2", {five_quarters, one, tiny, 0}, {one, one, one, one}).run().front(),
            fp32_bits(2.0F));
  EXPECT_EQ(dot("aligned:2,2", {five_quarters, one, 0, 0x80}, {one, one, one, one}).run().front(),
            fp32_bits(2.25F));
  for (const char* kind : {"fused:2", "chunk:2", "plain"}) {
    Problem zeros = dot(kind, {five_quarters, one, 0, 0, 0x80, 0x80}, {one, one, one, 0x80, one, 0});
    EXPECT_EQ(zeros.run().front(), fp32_bits(2.25F)) << kind;
  }
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  const auto refused = [](Problem problem, std::size_t outputs = 1) {
    problem.operands.a = problem.a;
    problem.operands.b = problem.b;
    EXPECT_THROW(check_gemm(problem.operands, problem.options, outputs), std::invalid_argument);
  };
  const Problem good = dot("plain", {one, one}, {one, one});
  {
    Problem problem = good;
    EXPECT_NO_THROW(problem.run());
    refused(problem, 2);
    problem.operands.k = 3;
    refused(problem);
    problem.operands.k = -2;
    refused(problem);
  }
  {
    Problem problem = good;
    problem.operands.a_format = Format::parse("fp16");
    refused(problem);
    problem.operands.a_format = Format::parse("e4m3:bias=200");
    refused(problem);
  }
  {
    Problem problem = good;
    problem.options.rows = 0;
    refused(problem);
    problem.options.rows = 1;
    problem.options.draws.lanes = 0;
    refused(problem);
  }
  {
    Problem problem = good;
    problem.options.accumulator.format = Format::parse("e8m23:finite");
    refused(problem);
    problem.options.accumulator = Accumulator::parse("plain", formats::fp32, Rounding::sr(20));
    refused(problem);  // 20 bits from a leap of 16
    problem.options.draws.leap = 20;
    EXPECT_NO_THROW(problem.run());
  }
  {
    Problem problem = good;
    problem.operands.m = problem.operands.n = 0;
    problem.operands.k = Accumulator::max_k + 1;
    problem.a.clear();
    problem.b.clear();
    refused(problem, 0);
  }
}

}  // namespace
}  // namespace mantissa

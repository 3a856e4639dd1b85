// FP32 to every small and 16-bit format over the FP32 patterns, in every mode without draws and both overflow
// modes, codes and flags, against the step function that MPFR gives.
#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>

#include "models/format/convert.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/parallel.hpp"
#include "testbench/support/step_function.hpp"

namespace mantissa {
namespace {

using test::StepFunction;

struct SweepCase {
  Format to;
  Rounding rounding;
  Overflow overflow;
};

std::string name_of(const SweepCase& one) {
  return one.to.name() + "_" + one.rounding.name() + (one.overflow == Overflow::ieee ? "_ieee" : "_saturate");
}
std::string case_name(const testing::TestParamInfo<SweepCase>& info) { return name_of(info.param); }
void PrintTo(const SweepCase& one, std::ostream* out) { *out << name_of(one); }

std::vector<SweepCase> sweep_cases() {
  std::vector<SweepCase> cases;
  for (const Format& to : {formats::e5m2, formats::e4m3, formats::e3m2, formats::e2m3, formats::e2m1,
                           formats::fp16, formats::bf16}) {
    for (const Rounding rounding : {Rounding::rne(), Rounding::rna(), Rounding::rnz(), Rounding::rtz()}) {
      for (const Overflow overflow : {Overflow::ieee, Overflow::saturate})
        cases.push_back({to, rounding, overflow});
    }
  }
  return cases;
}

std::string mismatch(std::uint32_t bits, const Rounded& actual, const Rounded& expected) {
  std::ostringstream text;
  text << std::hex << bits << " gives " << actual.code << " " << actual.flags.letters() << ", expected "
       << expected.code << " " << expected.flags.letters();
  return text.str();
}

// Describes the first of the patterns begin, begin + stride, ... below end that differs from the steps.
// Flattened: with everything inlined the sweep is three times as fast.
[[gnu::flatten]] std::string first_difference(const StepFunction& steps, const Conversion& how,
                                              std::uint64_t begin, std::uint64_t end, std::uint64_t stride) {
  StepFunction::Walk walk(steps, static_cast<std::uint32_t>(begin));
  for (std::uint64_t bits = begin; bits < end; bits += stride) {
    const auto input = static_cast<std::uint32_t>(bits);
    const Rounded actual = convert(input, how);
    const Rounded& expected = walk.at(input);
    if (actual != expected) return mismatch(input, actual, expected);
  }
  return "";
}

class ConvertSweep : public testing::TestWithParam<SweepCase> {
 protected:
  Conversion how() const {
    return {.to = GetParam().to, .rounding = GetParam().rounding, .overflow = GetParam().overflow};
  }
  const StepFunction steps{GetParam().to, GetParam().rounding, GetParam().overflow};
};

// The oracle checked by the oracle: at both ends of each segment MPFR gives the segment's result directly.
TEST_P(ConvertSweep, StepsEqualDirectMpfrAtTheirEnds) {
  const auto segments = steps.segments();
  ASSERT_EQ(segments.front().first, 0U);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::uint32_t last = (i + 1 < segments.size() ? segments[i + 1].first : 0U) - 1;
    ASSERT_LE(segments[i].first, last);
    for (const std::uint32_t bits : {segments[i].first, last}) {
      const Rounded expected = test::oracle::convert(bits, how());
      ASSERT_EQ(segments[i].result, expected) << mismatch(bits, segments[i].result, expected);
    }
  }
}

TEST_P(ConvertSweep, NeighboursOfEveryBoundary) {
  for (const StepFunction::Segment& segment : steps.segments()) {
    for (std::uint32_t bits = segment.first - 2; bits != segment.first + 3; ++bits) {
      const Rounded actual = convert(bits, how());
      ASSERT_EQ(actual, steps.at(bits)) << mismatch(bits, actual, steps.at(bits));
    }
  }
}

TEST_P(ConvertSweep, DirectMpfr) {
  for (std::uint64_t i = 0; i < 1U << 16; ++i) {
    const auto bits = static_cast<std::uint32_t>(i * 65537 + 12345);
    const Rounded actual = convert(bits, how());
    const Rounded expected = test::oracle::convert(bits, how());
    ASSERT_EQ(actual, expected) << mismatch(bits, actual, expected);
  }
}

TEST_P(ConvertSweep, Strided) {
  constexpr std::uint64_t stride = 257;  // odd: the low bits take every value
  EXPECT_EQ(first_difference(steps, how(), 0, std::uint64_t{1} << 32, stride), "");
}

TEST(StepFunction, CodesOfConsecutivePatterns) {
  const StepFunction steps(formats::e5m2, Rounding::rne(), Overflow::ieee);
  std::vector<std::uint8_t> codes(1 << 16);
  steps.codes<std::uint8_t>(0x3F7F8000, codes);
  for (std::uint32_t i = 0; i < codes.size(); ++i) ASSERT_EQ(codes[i], steps.at(0x3F7F8000 + i).code);
}

using LongConvertSweep = ConvertSweep;

TEST_P(LongConvertSweep, AllInputs) {
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  const auto sweep = [&](int part) {
    return first_difference(steps, how(), part * half, (part + 1) * half, 1);
  };
  EXPECT_EQ(test::first_mismatch(2, sweep), "");
}

INSTANTIATE_TEST_SUITE_P(All, ConvertSweep, testing::ValuesIn(sweep_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Long, LongConvertSweep, testing::ValuesIn(sweep_cases()), case_name);

}  // namespace
}  // namespace mantissa

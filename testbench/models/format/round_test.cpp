// Stochastic rounding counted over all its draws, and its distribution under the LFSR lanes
// (ARITHMETIC.md 2, 3).
#include "models/format/round.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/stream_id.hpp"
#include "models/random/stream.hpp"
#include "testbench/support/mpfr_oracle.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

constexpr int grid_bits = 10;  // positions between two neighbours: 2^grid_bits

// Value number `position` above magnitude code `code`: code's value plus position / 2^grid_bits of the
// spacing. Codes may lie above the format's largest: there the grid goes on as if the exponent had no bound.
Exact grid_value(std::uint32_t code, std::uint32_t position, const Format& format, bool negative) {
  const std::uint32_t field = code >> format.mantissa_bits;
  const std::uint32_t units =
      (code & format.mantissa_mask()) + (field == 0 ? 0U : 1U << format.mantissa_bits);
  const int unit = format.min_quantum() + static_cast<int>(std::max(field, 1U)) - 1;
  return Exact::integer(negative, (std::uint64_t{units} << grid_bits) + position, unit - grid_bits);
}

// All codes of small formats; of large ones those around each power of two and some between; two above max.
std::vector<std::uint32_t> grid_codes(const Format& format) {
  std::vector<std::uint32_t> codes;
  const std::uint32_t one = 1U << format.mantissa_bits;
  for (std::uint32_t code = 0; code <= format.max_code() + 2; ++code) {
    const std::uint32_t mantissa = code % one;
    const bool near_power = mantissa < 2 || mantissa >= one - 2;
    const bool chosen = format.bits() <= 8 || (near_power && code / one % 5 < 2) ||
                        code >= format.max_code() - 2 || code < 8 || code % 1009 == 0;
    if (chosen) codes.push_back(code);
  }
  return codes;
}

void expect_up_counts(const Format& format, Overflow overflow, int step) {
  SCOPED_TRACE(format.name());
  for (const std::uint32_t code : grid_codes(format)) {
    for (std::uint32_t position = 0; position < 1U << grid_bits; position += step) {
      const bool negative = (position / step) % 2 != 0;
      const Exact value = grid_value(code, position, format, negative);
      if (value.is_zero()) continue;
      // What a result of `code` quanta or of one more looks like, by the overflow rule.
      const auto outcome = [&](std::uint32_t magnitude) {
        if (magnitude > format.max_code()) {
          const bool stops = overflow == Overflow::saturate || !format.has_nan();
          const Rounding away = Rounding::rne();
          return stops ? (format.max_code() | (negative ? format.sign_bit() : 0U))
                       : test::oracle::round(test::Real::infinity(negative), format, away, 0, Overflow::ieee)
                             .code;
        }
        return magnitude |
               (negative && (magnitude != 0 || format.has_negative_zero()) ? format.sign_bit() : 0U);
      };
      const std::uint32_t down = outcome(code);
      const std::uint32_t up = outcome(code + 1);
      for (int r = 1; r <= 8; ++r) {
        const std::uint32_t f = position >> (grid_bits - r);  // F = floor(f * 2^r), by construction
        std::uint32_t ups = 0;
        std::uint32_t downs = 0;
        for (std::uint32_t draw = 0; draw < 1U << r; ++draw) {
          const Rounded result = round(value, format, Rounding::sr(r), draw, overflow);
          ups += result.code == up && draw + f >= 1U << r ? 1 : 0;
          downs += result.code == down && draw + f < 1U << r ? 1 : 0;
        }
        ASSERT_EQ(ups, f) << "code " << code << " position " << position << " r " << r;
        ASSERT_EQ(downs, (1U << r) - f) << "code " << code << " position " << position << " r " << r;
      }
    }
  }
}

TEST(StochasticRounding, ExactlyFOfAllDrawsGoUp) {
  for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
    for (const char* name : {"e5m2", "e4m3", "e3m2", "e2m3", "e2m1"})
      expect_up_counts(Format::parse(name), overflow, 1);
    for (const char* name :
         {"e4m3:ieee", "e4m3:fnuz", "e5m2:fn", "e4m3:bias=11", "e3m0", "e3m0:finite", "e6m1"})
      expect_up_counts(Format::parse(name), overflow, 7);
    for (const char* name : {"fp16", "bf16", "e6m9"}) expect_up_counts(Format::parse(name), overflow, 13);
  }
}

TEST(StochasticRounding, GridIsWhatItSays) {
  const Format& format = formats::e4m3;
  EXPECT_EQ(grid_value(0x38, 0, format, false), Exact::from_double(1.0));
  EXPECT_EQ(grid_value(0x38, 512, format, true), Exact::from_double(-1.0625));
  EXPECT_EQ(grid_value(0, 256, format, false), Exact::from_double(0x1p-11));
  EXPECT_EQ(grid_value(0x7F, 0, format, false), Exact::from_double(480.0));
}

TEST(StochasticRounding, RepresentableValuesNeverMove) {
  for (const char* name : {"e5m2", "e4m3", "e2m1", "e4m3:fnuz", "fp16"}) {
    const Format format = Format::parse(name);
    for (std::uint32_t code = 0; code <= format.max_code(); ++code) {
      for (const int r : {1, 8, 16, 32}) {
        const Rounded result =
            round(decode(code, format), format, Rounding::sr(r), 0xFFFFFFFFU, Overflow::ieee);
        ASSERT_EQ(result, (Rounded{code, {}})) << name << " " << code;
      }
    }
  }
}

TEST(StochasticRounding, OnlyTheLowBitsOfADrawCount) {
  const Exact value = Exact::from_double(1.3);
  for (std::uint32_t draw = 0; draw < 256; ++draw) {
    const Rounded plain = round(value, formats::e5m2, Rounding::sr(8), draw, Overflow::ieee);
    EXPECT_EQ(plain, round(value, formats::e5m2, Rounding::sr(8), draw | 0xABCDEF00U, Overflow::ieee));
  }
}

// Every mode with every kind of format against MPFR, code and flags; values span ties, tiny and huge ones.
TEST(Round, EqualsMpfrWithAllFlags) {
  test::Random random(4);
  const Rounding modes[] = {Rounding::rne(),  Rounding::rna(),  Rounding::rnz(),
                            Rounding::rtz(),  Rounding::sr(1),  Rounding::sr(4),
                            Rounding::sr(13), Rounding::sr(24), Rounding::sr(32)};
  for (const char* name :
       {"e5m2",         "e4m3", "e3m2",          "e2m3",           "e2m1",    "fp16",
        "bf16",         "fp32", "e4m3:ieee",     "e4m3:fnuz",      "e5m2:fn", "e5m2:finite",
        "e4m3:bias=11", "e3m0", "e3m0:finite",   "e2m0:fnuz",      "e8m0",    "e2m23",
        "e6m9",         "e8m3", "e4m3:bias=300", "e8m10:bias=-100"}) {
    const Format format = Format::parse(name);
    for (int i = 0; i < 20000; ++i) {
      // A double with the exponent anywhere around the format's range and a mantissa rich in runs.
      const int low = format.min_quantum() - 36;
      const int high = format.max_exponent() + 4;
      const int exponent = low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low));
      const int keep = static_cast<int>(random() % 53);
      std::uint64_t significand = (random() >> 11) | (std::uint64_t{1} << 52);
      significand = (significand >> (52 - keep)) << (52 - keep);
      significand |= random() % 4 == 0 ? 1 : 0;
      const double magnitude = std::ldexp(static_cast<double>(significand), exponent - 52);
      const double value = random() % 2 == 0 ? magnitude : -magnitude;
      const auto draw = static_cast<std::uint32_t>(random());
      const Rounding mode = modes[i % 7];
      const Overflow overflow = random() % 2 == 0 ? Overflow::ieee : Overflow::saturate;
      const Flush flush{.output = random() % 4 == 0};
      ASSERT_EQ(round(Exact::from_double(value), format, mode, draw, overflow, flush),
                test::oracle::round(test::Real(value), format, mode, draw, overflow, flush))
          << name << " " << mode.name() << " draw " << draw << " value " << std::hexfloat << value;
    }
    for (const double special : std::initializer_list<double>{INFINITY, -INFINITY, 0.0, -0.0, NAN}) {
      for (const Rounding mode : modes) {
        for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
          ASSERT_EQ(round(Exact::from_double(special), format, mode, 0, overflow),
                    test::oracle::round(test::Real(special), format, mode, 0, overflow))
              << name << " " << mode.name() << " " << special;
        }
      }
    }
  }
}

// 2^20 draws of each of 16 lanes: the mean of the rounded value lies within 5 sigma of the value.
TEST(StochasticRounding, EveryLaneIsUnbiased) {
  constexpr int draws = 1 << 20;
  const StreamId stream{.step = 3, .layer = 2, .pass = Pass::forward, .unit = RandomUnit::tensor_quantizer};
  const DrawSource source{.run_seed = 42, .stream = stream.value()};
  struct Case {
    float value;
    Format format;
    int r;
  };
  const Case cases[] = {{1.1F, formats::e5m2, 8},
                        {-0.337F, formats::e4m3, 8},
                        {0x1.3p-17F, formats::e5m2, 4},
                        {1.9999F, formats::e4m3, 16},
                        {2.6F, formats::e2m1, 13}};
  for (const Case& one : cases) {
    const Conversion how{.to = one.format, .rounding = Rounding::sr(one.r)};
    const double down = to_double(convert(fp32_bits(one.value), how, 0).code, one.format);
    const double up = to_double(convert(fp32_bits(one.value), how, ~0U).code, one.format);
    ASSERT_NE(up, down);
    // The hardware sees r bits of the fraction, so that F/2^r is the probability.
    const double fraction = (static_cast<double>(one.value) - down) / (up - down);
    const double p = std::floor(std::ldexp(fraction, one.r)) / std::ldexp(1.0, one.r);
    const double mean = down + p * (up - down);
    const double sigma = std::fabs(up - down) * std::sqrt(p * (1 - p) / draws);
    for (int lane = 0; lane < 16; ++lane) {
      Lfsr lfsr = source.lane(lane);
      double sum = 0;
      for (int i = 0; i < draws; ++i)
        sum += to_double(convert(fp32_bits(one.value), how, lfsr.draw()).code, one.format);
      EXPECT_LT(std::fabs(sum / draws - mean), 5 * sigma) << "lane " << lane << " value " << one.value;
    }
  }
}

}  // namespace
}  // namespace mantissa

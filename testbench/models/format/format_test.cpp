// Formats: names, the table of ARITHMETIC.md 1, and every code of every small format.
#include "models/format/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/round.hpp"
#include "testbench/support/mpfr_oracle.hpp"

namespace mantissa {
namespace {

using test::Real;
namespace oracle = test::oracle;

// Every name form: all eXmY of at most `bits` bits with every suffix, plus some biases.
std::vector<Format> all_formats(int bits) {
  std::vector<Format> formats;
  for (int x = 2; x <= 8; ++x) {
    for (int y = 0; y <= 23 && 1 + x + y <= bits; ++y) {
      const std::string base = "e" + std::to_string(x) + "m" + std::to_string(y);
      for (const char* suffix : {"", ":ieee", ":fn", ":finite", ":fnuz", ":bias=11", ":bias=-3",
                                 ":fnuz:bias=0", ":bias=4:finite", ":fnuz:ieee"})
        formats.push_back(Format::parse(base + suffix));
    }
  }
  return formats;
}

TEST(Format, NameParsesBack) {
  for (const Format& format : all_formats(32))
    EXPECT_EQ(Format::parse(format.name()), format) << format.name();
  EXPECT_EQ(Format::parse("e4m3:bias=512:bias=-256").name(), "e4m3:bias=-256");
}

TEST(Format, NameIsTheShortest) {
  for (const NamedFormat& named : named_formats) {
    EXPECT_EQ(Format::parse(named.name), named.format);
    EXPECT_EQ(named.format.name(), named.name);
  }
  const std::pair<const char*, const char*> spelled[] = {
      {"e8m23", "fp32"},
      {"e8m7", "bf16"},
      {"e5m10", "fp16"},
      {"e5m2:ieee", "e5m2"},
      {"e4m3:fn", "e4m3"},
      {"e4m3:ieee", "e4m3:ieee"},
      {"e4m3:bias=7", "e4m3"},
      {"e4m3:bias=11", "e4m3:bias=11"},
      {"e4m3:fnuz", "e4m3:fnuz"},
      {"e4m3:fnuz:bias=8", "e4m3:fnuz"},
      {"e4m3:bias=8:fnuz", "e4m3:fnuz"},  // left to right: fnuz sets the bias
      {"e4m3:fnuz:ieee", "e4m3:ieee:bias=8"},
      {"e3m2:finite", "e3m2"},
      {"e6m9", "e6m9"},
  };
  for (const auto& [from, to] : spelled) EXPECT_EQ(Format::parse(from).name(), to) << from;
}

TEST(Format, UnknownNameListsWhatExists) {
  for (const char* name : {"",
                           "fp8",
                           "e5",
                           "em",
                           "e5m",
                           "m2",
                           "e1m2",
                           "e9m2",
                           "e5m24",
                           "e5m-1",
                           "e-5m2",
                           "e5m2 ",
                           " e5m2",
                           "E5M2",
                           "e5m2x",
                           "ex5m2",
                           "e05m2",
                           "e4m03",
                           "e+4m3",
                           "e4m3:",
                           "e4m3::fn",
                           "e4m3:inf",
                           "e4m3:bias",
                           "e4m3:bias=",
                           "e4m3:bias=x",
                           "e4m3:bias=7.5",
                           "e4m3:bias=513",
                           "e4m3:bias=-257",
                           "e4m3:bias=99999999999",
                           ":fn",
                           "e999999999999m3"}) {
    try {
      Format::parse(name);
      ADD_FAILURE() << "accepted '" << name << "'";
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("'" + std::string(name) + "'"), std::string::npos) << what;
      for (const NamedFormat& named : named_formats)
        EXPECT_NE(what.find(named.name), std::string::npos) << what;
      for (const char* part : {"eXmY", ":ieee", ":fn", ":finite", ":fnuz", ":bias=N"})
        EXPECT_NE(what.find(part), std::string::npos) << what;
    }
  }
}

struct TableRow {
  const char* name;
  double max_finite;
  double min_subnormal;
  std::int64_t max_code;
  std::int64_t inf_code;   // -1: none
  std::int64_t nan_code;   // canonical, -1: none
  std::int64_t nan_codes;  // of both signs
};

TEST(Format, Table) {
  const TableRow rows[] = {
      {"e5m2", 57344, 0x1p-16, 0x7B, 0x7C, 0x7E, 6},
      {"e4m3", 448, 0x1p-9, 0x7E, -1, 0x7F, 2},
      {"e3m2", 28, 0x1p-4, 0x1F, -1, -1, 0},
      {"e2m3", 7.5, 0x1p-3, 0x1F, -1, -1, 0},
      {"e2m1", 6, 0.5, 0x7, -1, -1, 0},
      {"fp16", 65504, 0x1p-24, 0x7BFF, 0x7C00, 0x7E00, 2046},
      {"bf16", 0x1.FEp127, 0x1p-133, 0x7F7F, 0x7F80, 0x7FC0, 254},
      {"fp32", 0x1.FFFFFEp127, 0x1p-149, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 16777214},
      {"e4m3:ieee", 240, 0x1p-9, 0x77, 0x78, 0x7C, 14},
      {"e4m3:bias=11", 28, 0x1p-13, 0x7E, -1, 0x7F, 2},
      {"e4m3:fnuz", 240, 0x1p-10, 0x7F, -1, 0x80, 1},
      {"e5m2:fnuz", 57344, 0x1p-17, 0x7F, -1, 0x80, 1},
      {"e5m2:fn", 98304, 0x1p-16, 0x7E, -1, 0x7F, 2},
      {"e5m2:finite", 114688, 0x1p-16, 0x7F, -1, -1, 0},
      {"e3m0", 8, 0.25, 0x6, -1, 0x7, 2},  // Y = 0: the smallest number is normal, top code NaN, no Inf
      {"e3m0:finite", 16, 0.25, 0x7, -1, -1, 0},
      {"e8m0", 0x1p127, 0x1p-126, 0xFE, -1, 0xFF, 2},
      {"e3m1", 12, 0.125, 0xD, 0xE, 0xF, 2},
  };
  for (const TableRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Format format = Format::parse(row.name);
    EXPECT_EQ(to_double(format.max_code(), format), row.max_finite);
    EXPECT_EQ(to_double(1, format), row.min_subnormal);
    EXPECT_EQ(format.max_code(), row.max_code);
    EXPECT_EQ(format.has_inf(), row.inf_code >= 0);
    EXPECT_EQ(format.has_nan(), row.nan_code >= 0);
    if (format.has_inf()) {
      EXPECT_EQ(format.inf_code(), row.inf_code);
      EXPECT_EQ(to_double(format.inf_code(), format), INFINITY);
      EXPECT_EQ(to_double(format.inf_code() | format.sign_bit(), format), -INFINITY);
    }
    if (format.has_nan()) {
      EXPECT_EQ(format.nan_code(), row.nan_code);
    }
    int nans = 0;
    for (const std::uint32_t sign : {0U, format.sign_bit()}) {
      nans += format.is_nan(sign) ? 1 : 0;
      for (std::uint32_t code = format.max_code(); code <= format.magnitude_mask(); ++code)
        nans += format.is_nan(code | sign) ? 1 : 0;
    }
    EXPECT_EQ(nans, row.nan_codes);
  }
}

TEST(Format, SignallingNansHaveTheQuietBitClear) {
  EXPECT_TRUE(formats::e5m2.is_signalling(0x7D));
  EXPECT_TRUE(formats::e5m2.is_signalling(0xFD));
  EXPECT_FALSE(formats::e5m2.is_signalling(0x7E));
  EXPECT_FALSE(formats::e5m2.is_signalling(0x7C));
  EXPECT_FALSE(formats::e4m3.is_signalling(0x7F));
  EXPECT_TRUE(formats::fp32.is_signalling(0x7F800001));
  EXPECT_FALSE(formats::fp32.is_signalling(0x7FC00001));
  EXPECT_FALSE(Format::parse("e4m3:fnuz").is_signalling(0x80));
}

// A code decodes to the oracle's value, and that value, already in the format, rounds back to the code in
// every mode and with every draw.
void expect_round_trip(std::uint32_t code, const Format& format) {
  const Real expected = oracle::value(code, format);
  Flags flags;
  const Exact value = decode(code, format, flags);
  ASSERT_EQ(value.is_nan(), expected.is_nan()) << format.name() << " " << code;
  ASSERT_EQ(flags, (Flags{.invalid = oracle::is_signalling(code, format)})) << format.name() << " " << code;
  ASSERT_EQ(format.is_zero(code), expected.is_zero()) << format.name() << " " << code;
  if (!expected.is_nan()) {
    const double number = to_double(code, format);
    ASSERT_TRUE(Real(number) == expected) << format.name() << " " << code;
    ASSERT_EQ(std::signbit(number), expected.is_negative()) << format.name() << " " << code;
    ASSERT_EQ(Exact::from_double(number), value) << format.name() << " " << code;
  }
  const std::uint32_t back = value.is_nan() ? format.nan_code() : code;
  for (const Rounding rounding :
       {Rounding::rne(), Rounding::rna(), Rounding::rnz(), Rounding::rtz(), Rounding::sr(8)}) {
    const Rounded rounded = round(value, format, rounding, 0xFFFFFFFFU, Overflow::ieee);
    ASSERT_EQ(rounded, (Rounded{back, {}})) << format.name() << " " << code << " " << rounding.name();
  }
}

TEST(Format, EveryCodeOfSmallFormatsRoundTrips) {
  for (const Format& format : all_formats(8)) {
    for (std::uint32_t code = 0; code <= format.code_mask(); ++code) expect_round_trip(code, format);
  }
}

TEST(Format, EveryCodeOf16BitFormatsRoundTrips) {
  for (const Format& format : {formats::fp16, formats::bf16}) {
    for (std::uint32_t code = 0; code <= format.code_mask(); ++code) expect_round_trip(code, format);
  }
}

TEST(Format, ExtremeBiasesStayExact) {
  for (const char* name : {"e8m23:bias=512", "e8m23:bias=-256", "e2m23:bias=512", "e8m0:finite:bias=-256"}) {
    const Format format = Format::parse(name);
    for (const std::uint32_t code : {1U, 2U, (1U << format.mantissa_bits) - 1, 1U << format.mantissa_bits,
                                     format.max_code() - 1, format.max_code()})
      expect_round_trip(code, format);
  }
}

}  // namespace
}  // namespace mantissa

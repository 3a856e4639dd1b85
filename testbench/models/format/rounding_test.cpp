// Names of rounding, overflow and flush options, and the letters of flags.
#include "models/format/rounding.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "models/format/flags.hpp"

namespace mantissa {
namespace {

template <typename Parse>
void expect_refused(Parse parse, const char* text, std::initializer_list<const char*> known) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted '" << text << "'";
  } catch (const std::invalid_argument& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("'" + std::string(text) + "'"), std::string::npos) << what;
    for (const char* name : known) EXPECT_NE(what.find(name), std::string::npos) << what;
  }
}

TEST(Rounding, NameParsesBack) {
  EXPECT_EQ(Rounding::parse("rne"), Rounding::rne());
  EXPECT_EQ(Rounding::parse("rtz"), Rounding::rtz());
  EXPECT_EQ(Rounding::rne().name(), "rne");
  EXPECT_EQ(Rounding::rtz().name(), "rtz");
  EXPECT_EQ(Rounding::parse("rna"), Rounding::rna());
  EXPECT_EQ(Rounding::parse("rnz"), Rounding::rnz());
  EXPECT_EQ(Rounding::rna().name(), "rna");
  EXPECT_EQ(Rounding::rnz().name(), "rnz");
  for (int r = 1; r <= 32; ++r) {
    const std::string name = "sr:" + std::to_string(r);
    EXPECT_EQ(Rounding::parse(name), Rounding::sr(r));
    EXPECT_EQ(Rounding::sr(r).name(), name);
    EXPECT_EQ(Rounding::sr(r).random_mask(), (std::uint64_t{1} << r) - 1);
  }
}

TEST(Rounding, UnknownNamesListWhatExists) {
  for (const char* text : {"", "RNE", "rne ", "sr", "sr:", "sr:0", "sr:33", "sr:-1", "sr:8x", "sr:1.5", "rn",
                           "rnx", "rna:1", "sr:8:1"})
    expect_refused(Rounding::parse, text, {"rne", "rna", "rnz", "rtz", "sr:r", "1..32"});
  for (const char* text : {"", "IEEE", "sat", "wrap"})
    expect_refused(parse_overflow, text, {"ieee", "saturate"});
  for (const char* text : {"", "in", "yes"})
    expect_refused(parse_flush, text, {"none", "input", "output", "both"});
}

TEST(Rounding, OverflowAndFlush) {
  EXPECT_EQ(parse_overflow("ieee"), Overflow::ieee);
  EXPECT_EQ(parse_overflow("saturate"), Overflow::saturate);
  EXPECT_EQ(parse_flush("none"), (Flush{false, false}));
  EXPECT_EQ(parse_flush("input"), (Flush{true, false}));
  EXPECT_EQ(parse_flush("output"), (Flush{false, true}));
  EXPECT_EQ(parse_flush("both"), (Flush{true, true}));
}

TEST(Flags, LettersAndBits) {
  EXPECT_EQ(Flags{}.letters(), "-");
  EXPECT_EQ(Flags{}.bits(), 0U);
  const Flags single[] = {{.invalid = true},
                          {.divide_by_zero = true},
                          {.overflow = true},
                          {.underflow = true},
                          {.inexact = true}};
  const char* letters = "vzoux";
  Flags all;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(single[i].letters(), std::string(1, letters[i]));
    EXPECT_EQ(single[i].bits(), 16U >> i);
    all |= single[i];
  }
  EXPECT_EQ(all.letters(), "vzoux");
  EXPECT_EQ(all.bits(), 31U);
}

}  // namespace
}  // namespace mantissa

// Fast counts of non-zeros against the golden model's, element by element.
#include "models/tensor/nonzero_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "models/sparsity/skip_window.hpp"

namespace mantissa {
namespace {

std::vector<std::uint16_t> narrowed(const std::vector<std::uint32_t>& counts) {
  return {counts.begin(), counts.end()};
}

TEST(NonzeroCounts, EveryCodeOfEveryKindOfFormat) {
  for (const char* name : {"e5m2", "e4m3", "e5m2:fnuz", "e4m3:fnuz", "e3m2", "e2m3", "e2m1", "e2m1:fnuz"}) {
    const Format format = Format::parse(name);
    for (unsigned code = 0; code <= format.code_mask(); ++code) {
      std::vector<std::uint16_t> counts;
      const std::vector<std::uint8_t> a(11, static_cast<std::uint8_t>(code));
      append_nonzero_counts(a, nonzero_mask(format), 1, 11, 16, 1, counts);
      EXPECT_EQ(counts, std::vector<std::uint16_t>(1, format.is_zero(code) ? 0 : 11)) << name << " " << code;
    }
  }
  EXPECT_THROW(nonzero_mask(formats::fp16), std::invalid_argument);
}

TEST(NonzeroCounts, AsTheGoldenModelForAllShapes) {
  std::mt19937_64 engine(5);
  const Format format = formats::e4m3;
  for (int i = 0; i < 300; ++i) {
    const auto rows = static_cast<std::int64_t>(engine() % 9);
    const auto k = static_cast<std::int64_t>(1 + engine() % 700);
    const int window = static_cast<int>(1 + engine() % (i % 2 == 0 ? 20 : 600));
    std::bernoulli_distribution zero(static_cast<double>(engine() % 11) / 10);
    std::vector<std::uint8_t> a(rows * k);
    for (std::uint8_t& code : a) {
      code = static_cast<std::uint8_t>(engine());
      if (zero(engine)) code &= 0x80;
    }
    std::vector<std::uint16_t> counts = {7};  // what is there stays
    append_nonzero_counts(a, nonzero_mask(format), rows, k, window, 1, counts);
    std::vector<std::uint16_t> expected = narrowed(nonzero_counts(a, format, rows, k, window));
    expected.insert(expected.begin(), 7);
    EXPECT_EQ(counts, expected) << rows << " x " << k << " by " << window;

    std::vector<float> values(a.begin(), a.end());
    for (std::size_t j = 0; j < a.size(); ++j) values[j] = (a[j] & 0x7F) != 0 ? values[j] : -0.0F;
    std::vector<std::uint16_t> of_values = {7};
    append_nonzero_counts(values, rows, k, window, 2, of_values);
    EXPECT_EQ(of_values, expected);
  }
}

TEST(NonzeroCounts, LongestWindowFull) {
  const std::vector<std::uint8_t> a(65535, 0xFF);
  std::vector<std::uint16_t> counts;
  append_nonzero_counts(a, 0xFF, 1, 65535, 65535, 1, counts);
  EXPECT_EQ(counts, std::vector<std::uint16_t>{65535});
}

TEST(NonzeroCounts, SpecialValuesOfFloatsAreNotZero) {
  const std::vector<float> a = {0.0F, -0.0F, std::numeric_limits<float>::denorm_min(), NAN, INFINITY};
  std::vector<std::uint16_t> counts;
  append_nonzero_counts(a, 1, 5, 2, 1, counts);
  EXPECT_EQ(counts, (std::vector<std::uint16_t>{0, 2, 1}));
}

TEST(NonzeroCounts, ThreadsChangeNothing) {
  std::mt19937_64 engine(9);
  const std::int64_t rows = 3001;
  const std::int64_t k = 1153;
  std::vector<std::uint8_t> a(rows * k);
  for (std::uint8_t& code : a) code = engine() % 4 == 0 ? static_cast<std::uint8_t>(engine()) : 0;
  std::vector<std::uint16_t> one;
  std::vector<std::uint16_t> three;
  append_nonzero_counts(a, 0x7F, rows, k, 16, 1, one);
  append_nonzero_counts(a, 0x7F, rows, k, 16, 3, three);
  EXPECT_EQ(one, three);
  EXPECT_EQ(one, narrowed(nonzero_counts(a, formats::e5m2, rows, k, 16)));
}

TEST(NonzeroCounts, RefusesWhatDoesNotFit) {
  const std::vector<std::uint8_t> a(12);
  std::vector<std::uint16_t> counts;
  EXPECT_THROW(append_nonzero_counts(a, 0x7F, 3, 5, 16, 1, counts), std::invalid_argument);
  EXPECT_THROW(append_nonzero_counts(a, 0x7F, -3, -4, 16, 1, counts), std::invalid_argument);
  EXPECT_THROW(append_nonzero_counts(a, 0x7F, 3, 4, 0, 1, counts), std::invalid_argument);
  EXPECT_THROW(append_nonzero_counts(a, 0x7F, 3, 4, 65536, 1, counts), std::invalid_argument);
  EXPECT_TRUE(counts.empty());
}

}  // namespace
}  // namespace mantissa

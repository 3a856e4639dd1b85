// The row kernel against the scalar element: all pairs of codes on accumulators of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "models/kernels/decode_table.hpp"
#include "models/kernels/mac_row.hpp"
#include "models/mac/fp8_pe.hpp"
#include "testbench/models/kernels/all_targets.hpp"

namespace mantissa {
namespace {

// Zeros, subnormals, the ends of the range, infinities, NaN of all kinds, and numbers near FP8 products.
std::vector<std::uint32_t> accumulators() {
  std::vector<std::uint32_t> codes = {0,          1,          0x007FFFFF, 0x00800000, 0x33800000, 0x3F800000,
                                      0x3F800001, 0x4B7FFFFF, 0x4B800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
                                      0x7FC00000, 0x7FFFFFFF, 0x2F800000, 0x4F000000};
  std::mt19937 engine(7);
  for (int i = 0; i < 16; ++i) codes.push_back((engine() % 0x40000000U) + 0x20000000U);
  const std::size_t positive = codes.size();
  for (std::size_t i = 0; i < positive; ++i) codes.push_back(codes[i] | 0x80000000U);
  return codes;
}

void expect_row_is_pe(const Format& a_format, const Format& b_format) {
  const kernels::DecodeTable a_table(a_format);
  const kernels::DecodeTable b_table(b_format);
  const MacConfig config{.a = a_format, .b = b_format};
  const std::uint32_t a_codes = 1U << a_format.bits();
  const std::uint32_t b_codes = 1U << b_format.bits();
  std::vector<float> b(b_codes);
  for (std::uint32_t code = 0; code < b_codes; ++code) b[code] = b_table.value[code];
  const std::vector<std::uint32_t> starts = accumulators();
  for (std::uint32_t a = 0; a < a_codes; ++a) {
    // Every b meets every accumulator over the a's, and each pair of a and b several of them.
    for (std::uint32_t shift = 0; shift < 4; ++shift) {
      std::vector<std::uint32_t> acc(b_codes);
      for (std::uint32_t code = 0; code < b_codes; ++code)
        acc[code] = starts[(code + a * 5 + shift * 17) % starts.size()];
      std::vector<std::uint32_t> expected(b_codes);
      for (std::uint32_t code = 0; code < b_codes; ++code)
        expected[code] = fp8_pe(a, code, acc[code], config);
      kernels::mac_row(a_table.value[a], b, acc);
      ASSERT_EQ(acc, expected) << "a " << a << " shift " << shift;
    }
  }
}

TEST(MacRowKernel, EveryPairOfCodesAsTheElement) {
  test::on_every_target([](const std::string& target) {
    SCOPED_TRACE(target);
    expect_row_is_pe(formats::e5m2, formats::e5m2);
    expect_row_is_pe(formats::e4m3, formats::e5m2);
    expect_row_is_pe(Format::parse("e4m3:fnuz"), formats::e2m1);
  });
}

// Rows of any length: whole vectors, and what is left of them.
TEST(MacRowKernel, EveryLengthOfARow) {
  test::on_every_target([](const std::string& target) {
    const kernels::DecodeTable table(formats::e5m2);
    for (std::size_t cols = 0; cols < 70; ++cols) {
      std::vector<float> b(cols);
      std::vector<std::uint32_t> acc(cols + 1, 0x3F800000);
      for (std::size_t c = 0; c < cols; ++c) b[c] = table.value[(c * 37) % 256];
      const auto row = std::span(acc).first(cols);
      kernels::mac_row(1.5F, b, row);
      for (std::size_t c = 0; c < cols; ++c) {
        ASSERT_EQ(acc[c], fp8_pe(0x3E, static_cast<std::uint32_t>(c * 37 % 256), 0x3F800000, {}))
            << target << " " << cols << " " << c;
      }
      ASSERT_EQ(acc[cols], 0x3F800000U) << "written behind the row";
    }
  });
}

}  // namespace
}  // namespace mantissa

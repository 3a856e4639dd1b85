// Widening, against the formats' definition: sign, exponent and mantissa as a product of powers of two.
#include "sim/trace/widen.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace mantissa::test {
namespace {

using trace::DType;

// Of an IEEE-like format; `fn`: no Inf, and only the last code is NaN.
double defined_value(std::uint32_t code, int exponent_bits, int mantissa_bits, bool fn) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t mantissa = code & ((1U << mantissa_bits) - 1);
  const auto exponent = static_cast<int>((code >> mantissa_bits) & ((1U << exponent_bits) - 1));
  const double sign = (code >> (mantissa_bits + exponent_bits)) != 0 ? -1 : 1;
  const bool last = exponent == (1 << exponent_bits) - 1;
  if (fn && last && mantissa == (1U << mantissa_bits) - 1) return std::numeric_limits<double>::quiet_NaN();
  if (!fn && last) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double fraction = static_cast<double>(mantissa) / (1U << mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

void check_every_code(DType dtype, int exponent_bits, int mantissa_bits, bool fn) {
  const int bytes = trace::bytes_of(dtype);
  const std::size_t codes = std::size_t{1} << (8 * bytes);
  // One byte further, so that nothing is aligned.
  std::vector<std::byte> raw(1 + codes * bytes);
  for (std::size_t code = 0; code < codes; ++code) {
    for (int i = 0; i < bytes; ++i) raw[1 + code * bytes + i] = static_cast<std::byte>(code >> (8 * i));
  }
  std::vector<float> values(codes);
  trace::widen(dtype, std::span(raw).subspan(1), values);
  for (std::size_t code = 0; code < codes; ++code) {
    const double expected = defined_value(static_cast<std::uint32_t>(code), exponent_bits, mantissa_bits, fn);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(values[code])) << name_of(dtype) << " " << code;
    } else {
      ASSERT_EQ(values[code], expected) << name_of(dtype) << " " << code;
      ASSERT_EQ(std::signbit(values[code]), std::signbit(expected)) << name_of(dtype) << " " << code;
    }
  }
}

TEST(Widen, EveryCodeIsItsDefinition) {
  check_every_code(DType::f16, 5, 10, false);
  check_every_code(DType::bf16, 8, 7, false);
  check_every_code(DType::e5m2, 5, 2, false);
  check_every_code(DType::e4m3, 4, 3, true);
}

TEST(Widen, Fp32StaysAsItIs) {
  const std::vector<std::uint32_t> bits{0x00000001, 0x80000000, 0x7F800001, 0xFFC12345, 0x3F800000};
  std::vector<float> values(bits.size());
  trace::widen(DType::f32, std::as_bytes(std::span(bits)), values);
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), bits[i]);
}

TEST(Widen, BytesMustBeThoseOfTheValues) {
  const std::vector<std::byte> raw(7);
  std::vector<float> values(4);
  EXPECT_THROW(trace::widen(DType::f16, raw, values), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa::test

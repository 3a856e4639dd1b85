// Conversion of codes between formats, with scale, intermediate FP16 step, flags and tensor counts.
#pragma once

#include <bit>
#include <cstdint>

#include "models/format/round.hpp"

namespace mantissa {

struct Conversion {
  Format from = formats::fp32;
  Format to = formats::fp32;
  Rounding rounding = Rounding::rne();
  Overflow overflow = Overflow::ieee;
  Flush flush = {};
  // Round to FP16 (rne, ieee) first: reproduces published E5M2 software that rounds twice.
  bool via_fp16 = false;
  // Exact multiplication by 2^scale before rounding, -128..127.
  int scale = 0;
};

// What a tensor conversion met.
struct ConversionCounts {
  std::uint64_t elements = 0;
  std::uint64_t overflow = 0;
  std::uint64_t underflow = 0;
  std::uint64_t inexact = 0;
  std::uint64_t invalid = 0;
  std::uint64_t flushed_to_zero = 0;  // non-zero in, zero out

  ConversionCounts& operator+=(const ConversionCounts& other);
  friend bool operator==(const ConversionCounts&, const ConversionCounts&) = default;
};

// A subnormal operand becomes zero of its sign (+0 where there is no -0), no flag.
constexpr std::uint32_t flush_subnormal(std::uint32_t code, const Format& format) {
  const bool subnormal =
      !format.is_nan(code) && ((code & format.magnitude_mask()) >> format.mantissa_bits) == 0;
  return subnormal ? detail::signed_code(0, format.is_negative(code), format) : code;
}

constexpr Rounded convert(std::uint32_t code, const Conversion& how, std::uint32_t draw = 0) {
  Flags flags;
  if (how.flush.input) code = flush_subnormal(code, how.from);
  Exact value = decode(code, how.from, flags).scaled(how.scale);
  if (how.via_fp16) {
    const Rounded half = round(value, formats::fp16, Rounding::rne(), 0, Overflow::ieee);
    flags |= half.flags;
    value = decode(half.code, formats::fp16, flags);
  }
  Rounded result = round(value, how.to, how.rounding, draw, how.overflow, how.flush);
  result.flags |= flags;
  return result;
}

// Adds one converted element to the counts.
void count(ConversionCounts& counts, std::uint32_t code, const Rounded& result, const Conversion& how);

constexpr std::uint32_t fp32_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr float fp32_value(std::uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace mantissa

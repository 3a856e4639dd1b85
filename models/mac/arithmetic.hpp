// Scalar operations on codes of any format: add, mul, fma, div, each with one rounding. The fp32_* units are
// these with FP32 everywhere; fp8_mul and fp8_mac have files of their own.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "models/format/round.hpp"

namespace mantissa {

// A code together with the format that gives it a value.
struct Code {
  std::uint32_t bits;
  Format format;
};

// How a result is made.
struct ResultSpec {
  Format format = formats::fp32;
  Rounding rounding = Rounding::rne();
  Overflow overflow = Overflow::ieee;
  Flush flush = {};
};

Rounded add(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);
Rounded mul(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);
Rounded fma(Code a, Code b, Code c, const ResultSpec& spec, std::uint32_t draw = 0);  // a*b + c
Rounded div(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);

// The FP32 units: rne, ieee overflow, canonical NaN.
Rounded fp32_add(std::uint32_t a, std::uint32_t b);
Rounded fp32_mul(std::uint32_t a, std::uint32_t b);
Rounded fp32_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c);
Rounded fp32_div(std::uint32_t a, std::uint32_t b);

// The same on values, for models that compute in FP32: every operation rounded on its own, NaN canonical. The
// host's IEEE 754 operations have these bits; tests hold them against the units above.
namespace f32 {
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(formats::fp32.nan_code()); }
inline float add(float a, float b) { return canonical(a + b); }
inline float sub(float a, float b) { return canonical(a - b); }
inline float mul(float a, float b) { return canonical(a * b); }
inline float fma(float a, float b, float c) { return canonical(std::fma(a, b, c)); }
inline float div(float a, float b) { return canonical(a / b); }
}  // namespace f32

}  // namespace mantissa

// gemmlowp_quantizer: FP32 to an unsigned integer of 8 or 16 bits between a minimum and a maximum
// (ARITHMETIC.md 5; Banner et al. 2018).
#pragma once

#include <cstdint>
#include <span>

#include "models/format/rounding.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

// The registers that the controller writes before a tensor is quantized.
struct GemmlowpRange {
  int bits = 8;
  float min = 0;
  float max = 0;
  float scale = 0;  // value of one integer step
  float inv = 0;    // fp32(1 / scale)

  constexpr std::uint32_t top() const { return (1U << bits) - 1; }

  // Throws std::invalid_argument unless bits is 8 or 16 and min <= max, both finite.
  static GemmlowpRange between(float min, float max, int bits);
  // Between the smallest and the largest finite element; 0 and 0 where there is none. Inf is clamped into
  // that range like any other value outside it.
  static GemmlowpRange of(std::span<const float> values, int bits);
  // The range next to this one in which an integer stands for zero exactly, so that padding is zero. Up to
  // half a step at one end is clamped.
  GemmlowpRange with_zero() const;
};

struct GemmlowpCode {
  std::uint16_t q = 0;
  bool invalid = false;  // the value was NaN
  friend bool operator==(const GemmlowpCode&, const GemmlowpCode&) = default;
};

GemmlowpCode gemmlowp_quantize(float x, const GemmlowpRange& range, Rounding rounding,
                               std::uint32_t draw = 0);
// Step by step: what a pipelined unit carries from one register to the next.
float gemmlowp_offset(float x, const GemmlowpRange& range);
float gemmlowp_steps(float offset, const GemmlowpRange& range);
GemmlowpCode gemmlowp_round(float steps, int bits, Rounding rounding, std::uint32_t draw = 0);
float gemmlowp_dequantize(std::uint16_t q, const GemmlowpRange& range);

// Element i takes draw i / lanes of lane i mod lanes. Returns how many elements were invalid.
std::uint64_t gemmlowp_quantize(std::span<const float> values, const GemmlowpRange& range, Rounding rounding,
                                const DrawSource& draws, std::span<std::uint16_t> codes);
void gemmlowp_dequantize(std::span<const std::uint16_t> codes, const GemmlowpRange& range,
                         std::span<float> values);

}  // namespace mantissa

#include "models/quantize/gemmlowp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/quantize/rounding_draws.hpp"

namespace mantissa {
namespace {

constexpr float smallest_scale = 1e-8F;

void check_sizes(std::size_t values, std::size_t codes) {
  if (values != codes) {
    throw std::invalid_argument(std::to_string(values) + " values do not fit " + std::to_string(codes) +
                                " codes");
  }
}

}  // namespace

GemmlowpRange GemmlowpRange::between(float min, float max, int bits) {
  if (bits != 8 && bits != 16) {
    throw std::invalid_argument("GEMMLOWP integers have 8 or 16 bits, not " + std::to_string(bits));
  }
  if (!std::isfinite(min) || !std::isfinite(max) || min > max) {
    throw std::invalid_argument("GEMMLOWP range from " + std::to_string(min) + " to " + std::to_string(max) +
                                ": both must be finite, the first not above the second");
  }
  GemmlowpRange range{.bits = bits, .min = min, .max = max};
  range.scale = std::max(f32::div(f32::sub(max, min), static_cast<float>(range.top())), smallest_scale);
  range.inv = f32::div(1.0F, range.scale);
  return range;
}

GemmlowpRange GemmlowpRange::of(std::span<const float> values, int bits) {
  float min = 0;
  float max = 0;
  bool found = false;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    if (!found || value < min) min = value;
    if (!found || value > max) max = value;
    found = true;
  }
  return between(min, max, bits);
}

GemmlowpRange GemmlowpRange::with_zero() const {
  GemmlowpRange range = between(std::min(min, 0.0F), std::max(max, 0.0F), bits);
  const std::uint16_t zero = gemmlowp_quantize(0.0F, range, Rounding::rne()).q;
  range.min = f32::sub(0.0F, f32::mul(static_cast<float>(zero), range.scale));
  range.max = gemmlowp_dequantize(static_cast<std::uint16_t>(range.top()), range);
  return range;
}

float gemmlowp_offset(float x, const GemmlowpRange& range) { return f32::sub(x, range.min); }

float gemmlowp_steps(float offset, const GemmlowpRange& range) { return f32::mul(offset, range.inv); }

GemmlowpCode gemmlowp_round(float steps, int bits, Rounding rounding, std::uint32_t draw) {
  const Exact exact = decode(fp32_bits(steps), formats::fp32);
  if (exact.is_nan()) return {0, true};
  if (exact.is_zero() || exact.negative) return {0, false};
  const std::uint64_t top = GemmlowpRange{.bits = bits}.top();
  if (exact.is_inf()) return {static_cast<std::uint16_t>(top), false};
  const std::uint64_t count = round_to_multiple(exact, 0, rounding, draw).count;
  return {static_cast<std::uint16_t>(std::min(count, top)), false};
}

GemmlowpCode gemmlowp_quantize(float x, const GemmlowpRange& range, Rounding rounding, std::uint32_t draw) {
  return gemmlowp_round(gemmlowp_steps(gemmlowp_offset(x, range), range), range.bits, rounding, draw);
}

float gemmlowp_dequantize(std::uint16_t q, const GemmlowpRange& range) {
  return f32::add(f32::mul(static_cast<float>(q), range.scale), range.min);
}

std::uint64_t gemmlowp_quantize(std::span<const float> values, const GemmlowpRange& range, Rounding rounding,
                                const DrawSource& draws, std::span<std::uint16_t> codes) {
  check_sizes(values.size(), codes.size());
  RoundingDraws element_draws(rounding, draws);
  std::uint64_t invalid = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const GemmlowpCode code = gemmlowp_quantize(values[i], range, rounding, element_draws.next());
    invalid += code.invalid ? 1 : 0;
    codes[i] = code.q;
  }
  return invalid;
}

void gemmlowp_dequantize(std::span<const std::uint16_t> codes, const GemmlowpRange& range,
                         std::span<float> values) {
  check_sizes(values.size(), codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) values[i] = gemmlowp_dequantize(codes[i], range);
}

}  // namespace mantissa

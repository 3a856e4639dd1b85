#include "sim/layer/scale_exponent.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/quantize/quantizer.hpp"
#include "models/sparsity/format_chooser.hpp"

namespace mantissa {
namespace {

// The largest finite magnitude lands in the format's top binade.
int top_binade(const Format& format, std::span<const float> values) {
  float largest = 0;
  for (const float x : values) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  if (largest == 0) return 0;
  const int exponent = format.max_exponent() - std::ilogb(largest);
  // The binade may end before its last number: e4m3 has 448, not 480.
  const float top = fp32_value(convert(format.max_code(), {.from = format}).code);
  return std::ldexp(static_cast<double>(largest), exponent) > top ? exponent - 1 : exponent;
}

int exponent_of(const TensorFormat& format, int extra, std::span<const float> values) {
  switch (format.scale) {
    case TensorFormat::Scale::fixed:
      return format.scale_exponent + extra;
    case TensorFormat::Scale::max:
      return top_binade(format.type.format(), values);
    case TensorFormat::Scale::centre:
      return centring_scale(fit_lognormal(values));
  }
  throw std::logic_error("a scale without a rule");
}

}  // namespace

int scale_exponent(const TensorFormat& format, int extra, std::span<const float> values) {
  return std::clamp(exponent_of(format, extra, values), min_quantizer_scale, max_quantizer_scale);
}

}  // namespace mantissa

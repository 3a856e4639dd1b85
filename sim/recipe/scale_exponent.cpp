#include "sim/recipe/scale_exponent.hpp"

#include <algorithm>
#include <cmath>

#include "models/quantize/quantizer.hpp"
#include "models/sparsity/format_chooser.hpp"

namespace mantissa {

int scale_exponent(const TensorFormat& how, int extra, std::span<const float> values) {
  int exponent = how.scale_exponent + extra;
  if (how.scale == TensorFormat::Scale::centre) {
    exponent = centring_scale(fit_lognormal(values));
  } else if (how.scale == TensorFormat::Scale::max) {
    float largest = 0;
    for (const float x : values) {
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    }
    exponent = largest > 0 ? how.format.max_exponent() - std::ilogb(largest) : 0;
    // The top binade may end before its last number: e4m3 has 448, not 480.
    const float top = fp32_value(convert(how.format.max_code(), {.from = how.format}).code);
    if (std::ldexp(static_cast<double>(largest), exponent) > top) exponent -= 1;
  }
  return std::clamp(exponent, min_quantizer_scale, max_quantizer_scale);
}

}  // namespace mantissa

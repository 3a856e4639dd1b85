// Numbers times a power of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace mantissa {

// out = in * 2^exponent, rounded once, to nearest, where FP32's range ends. `out` may be `in` itself.
inline void scale_values(std::span<const float> in, int exponent, std::span<float> out) {
  if (exponent >= -126 && exponent <= 127) {
    const auto factor = static_cast<float>(std::ldexp(1.0, exponent));
    std::transform(in.begin(), in.end(), out.begin(), [factor](float x) { return x * factor; });
  } else {  // no FP32 number
    std::transform(in.begin(), in.end(), out.begin(), [exponent](float x) {
      return static_cast<float>(std::ldexp(static_cast<double>(x), exponent));
    });
  }
}

}  // namespace mantissa

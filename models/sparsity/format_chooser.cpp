#include "models/sparsity/format_chooser.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "models/quantize/quantizer.hpp"
#include "models/random/normal.hpp"

namespace mantissa {

double relative_error(int mantissa_bits, int exponent_bits, double sigma_log2) {
  if (!(sigma_log2 >= 0 && sigma_log2 <= max_sigma_log2)) {
    throw std::invalid_argument("sigma " + std::to_string(sigma_log2) +
                                " of log2|g| is out of range; it must be 0..50");
  }
  const double reach = std::ldexp(1.0, exponent_bits - 1);
  const double sigma = sigma_log2 * std::numbers::ln2;
  const double z = sigma_log2 > 0 ? reach / sigma_log2 : std::numeric_limits<double>::infinity();
  const double outside = normal_cdf(-z);  // on each side
  // In range E|dm| = 2^-m / 4 and, m being log-uniform, E[1/m] = 1 / (2 ln 2).
  const double rounding = (1 - 2 * outside) / (8 * std::numbers::ln2 * std::ldexp(1.0, mantissa_bits));
  const double underflow = outside;
  const double saturation = outside - std::exp2(reach) * std::exp(sigma * sigma / 2) * normal_cdf(-z - sigma);
  return rounding + underflow + saturation;
}

FormatChoice choose_format(int bits, double sigma_log2) {
  if (bits < 3 || bits > 32) {
    throw std::invalid_argument("a format has 3 to 32 bits, not " + std::to_string(bits));
  }
  FormatChoice best{formats::fp32, std::numeric_limits<double>::infinity()};
  for (int exponent_bits = 2; exponent_bits <= 8; ++exponent_bits) {
    const int mantissa_bits = bits - 1 - exponent_bits;
    if (mantissa_bits < 0 || mantissa_bits > 23) continue;
    const double error = relative_error(mantissa_bits, exponent_bits, sigma_log2);
    if (error >= best.error) continue;
    best = {Format::parse("e" + std::to_string(exponent_bits) + "m" + std::to_string(mantissa_bits)), error};
  }
  return best;
}

Format gradient_format(double sigma) {
  const Format format = choose_format(8, std::min(sigma / std::log(2.0), max_sigma_log2)).format;
  return format.exponent_bits == formats::e4m3.exponent_bits ? formats::e4m3 : format;
}

int centring_scale(const LognormalFit& fit) {
  const double exponent = std::nearbyint(-fit.mu / std::numbers::ln2);
  return static_cast<int>(std::clamp<double>(exponent, min_quantizer_scale, max_quantizer_scale));
}

}  // namespace mantissa

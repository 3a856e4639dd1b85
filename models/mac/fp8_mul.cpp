#include "models/mac/fp8_mul.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace mantissa {

void check_exact_product(const Format& a, const Format& b) {
  for (const Format& format : {a, b}) {
    if (format.bits() > 8) {
      throw std::invalid_argument("operand format " + format.name() + " has " +
                                  std::to_string(format.bits()) + " bits; the multiplier takes at most 8");
    }
  }
  const double largest = to_double(a.max_code(), a) * to_double(b.max_code(), b);
  const bool fits = a.min_quantum() + b.min_quantum() >= formats::fp32.min_quantum() &&
                    largest <= static_cast<double>(std::numeric_limits<float>::max());
  if (!fits) {
    throw std::invalid_argument("products of " + a.name() + " and " + b.name() +
                                " are not all exact in fp32; choose biases that keep them within its range");
  }
}

Rounded fp8_mul(std::uint32_t a, const Format& a_format, std::uint32_t b, const Format& b_format) {
  Flags flags;
  const Exact x = decode(a, a_format, flags);
  const Exact y = decode(b, b_format, flags);
  const Exact product = multiply(x, y, flags);
  Rounded result = round(product, formats::fp32, Rounding::rne(), 0, Overflow::ieee);
  result.flags |= flags;
  return result;
}

}  // namespace mantissa

// fp8_mul: the exact product of two codes of up to 8 bits, as FP32.
#pragma once

#include <cstdint>

#include "models/format/round.hpp"

namespace mantissa {

// Throws std::invalid_argument unless both formats have at most 8 bits and every product is exact in FP32.
void check_exact_product(const Format& a, const Format& b);

// Bits of the product's significand: 6 for E5M2 x E5M2, 8 for E4M3 x E4M3.
constexpr int product_bits(const Format& a, const Format& b) { return a.precision() + b.precision(); }

Rounded fp8_mul(std::uint32_t a, const Format& a_format, std::uint32_t b, const Format& b_format);

}  // namespace mantissa

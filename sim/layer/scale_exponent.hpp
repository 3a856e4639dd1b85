// The power of two by which a quantizer multiplies first, as a recipe's rule gives it.
#pragma once

#include <span>

#include "sim/recipe/recipe.hpp"

namespace mantissa {

// The exponent that a rule gives for these values, kept within the quantizer's register. `extra` is the loss
// scale's exponent, which a rule that looks at the values does not need.
int scale_exponent(const TensorFormat& format, int extra, std::span<const float> values);

}  // namespace mantissa

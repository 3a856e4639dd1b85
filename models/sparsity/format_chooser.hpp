// Which split of bits between exponent and mantissa loses least on lognormal gradients (Chmiel et al. 2021).
// Here sigma is that of log2|g|: 1 / ln 2 = 1.4427 times the one of ln|g|.
#pragma once

#include "models/format/format.hpp"
#include "models/sparsity/lognormal.hpp"

namespace mantissa {

// Sigmas above this leave the range of double.
constexpr double max_sigma_log2 = 50;

// Expected relative error of a lognormal tensor, scaled so that the mean of log2|g| is 0, in a format whose
// exponents reach from -2^(exponent_bits-1) to 2^(exponent_bits-1): rounding inside, underflow to zero below,
// saturation above.
double relative_error(int mantissa_bits, int exponent_bits, double sigma_log2);

struct FormatChoice {
  Format format;
  double error;
};

// The format of this many bits, sign included (3..32), with the least relative error.
FormatChoice choose_format(int bits, double sigma_log2);

// The 8-bit format for gradients whose ln|g| has this deviation: that choice, and OCP's E4M3 where it falls
// on its shape, because the hardware has that one.
Format gradient_format(double sigma);

// The power of two that centres the tensor: -mean(log2|g|) to the nearest whole number, as far as the
// quantizer's scale register reaches.
int centring_scale(const LognormalFit& fit);

}  // namespace mantissa

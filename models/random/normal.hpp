// The standard normal distribution.
//
// Both functions are Boost.Math's, right to the last places of a double. They are rational functions with
// exp, log and sqrt in the tails: where libraries of two hosts differ in the last place of exp or log, so may
// these, and an FP32 number made of them hides it but for one in 10^8.
#pragma once

namespace mantissa {

double normal_cdf(double z);       // the share below z; also of an infinite one
double normal_quantile(double p);  // its inverse, 0 < p < 1

}  // namespace mantissa

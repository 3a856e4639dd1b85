// The pruning threshold from the magnitudes themselves, without a distribution in between.
#pragma once

#include <span>

namespace mantissa {

// tau at which stochastic pruning leaves this expected share of zeros among all elements, 0 <= sparsity < 1:
// zeros + sum over |g| < tau of (1 - |g|/tau) = sparsity * elements. Where there are enough zeros already,
// tau is the smallest non-zero magnitude, which prunes nothing (0 where there is none). Infinities and NaN
// pass the pruner and count as elements.
double empirical_tau(std::span<const float> gradient, double sparsity);

}  // namespace mantissa

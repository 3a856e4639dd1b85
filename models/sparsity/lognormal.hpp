// Gradients as a lognormal distribution: the fit, and what stochastic pruning at a threshold does to it
// (Chmiel et al. 2021, "Neural gradients are near-lognormal").
//
// Everything here is in natural logarithms: ln|g| ~ N(mu, sigma^2) over the non-zero elements. A threshold is
// given as log_alpha = ln(tau) - mu, its distance from the median.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "models/format/format.hpp"

namespace mantissa {

struct LognormalFit {
  std::uint64_t elements = 0;
  std::uint64_t zeros = 0;      // a mass of its own, no part of mu and sigma
  std::uint64_t nonfinite = 0;  // left out of the fit
  double mu = 0;                // mean of ln|g|
  double sigma = 0;             // unbiased standard deviation of ln|g|
  float smallest = 0;           // smallest non-zero magnitude, 0 if there is none
  // (99.67th percentile of ln|g| - mu) / sigma: where the largest one in 300 magnitudes begin.
  double tail = std::numeric_limits<double>::infinity();

  double zero_share() const {
    return elements == 0 ? 0 : static_cast<double>(zeros) / static_cast<double>(elements);
  }
};

LognormalFit fit_lognormal(std::span<const float> gradient);

// Larger sigmas are no gradients (29 binades of standard deviation) and leave the range of double.
constexpr double max_sigma = 20;

// Share of non-zero elements that pruning turns into zero: Phi(u) - e^(sigma^2/2) / alpha * Phi(u - sigma)
// with u = ln(alpha) / sigma.
double pruned_share(double log_alpha, double sigma);
// Its inverse: the threshold that prunes this share, 0 < share < 1.
double log_alpha_for_share(double share, double sigma);

// Cosine of the angle between a gradient and its pruned self. The plain lognormal moments give weight to
// magnitudes that a tensor of finite size never has; a finite `tail` (of the fit) cuts them off.
double pruned_cosine(double log_alpha, double sigma, double tail = std::numeric_limits<double>::infinity());
// Its inverse: the largest threshold that keeps this cosine, 0 < cosine < 1.
double log_alpha_for_cosine(double cosine, double sigma,
                            double tail = std::numeric_limits<double>::infinity());

// Share of all elements that are zero after pruning at tau, those that were zero before included.
double sparsity_at(double tau, const LognormalFit& fit);
// tau for a share of zeros among all elements, 0 <= sparsity < 1. Where there are enough zeros already, tau
// is the smallest non-zero magnitude, which prunes nothing (0 where there is none).
double tau_for_sparsity(double sparsity, const LognormalFit& fit);
// tau that keeps a cosine, with the fit's tail.
double tau_for_cosine(double cosine, const LognormalFit& fit);

// The threshold register: tau rounded to nearest in the gradient's format, never above its largest number.
std::uint32_t tau_code(double tau, const Format& format);

}  // namespace mantissa

#include "models/sparsity/empirical_threshold.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace mantissa {

double empirical_tau(std::span<const float> gradient, double sparsity) {
  if (!(sparsity >= 0 && sparsity < 1))
    throw std::invalid_argument("sparsity " + std::to_string(sparsity) + " must be at least 0 and below 1");
  std::vector<float> magnitudes;
  magnitudes.reserve(gradient.size());
  std::size_t zeros = 0;
  for (const float g : gradient) {
    if (g == 0) {
      ++zeros;
    } else if (std::isfinite(g)) {
      magnitudes.push_back(std::fabs(g));
    }
  }
  if (magnitudes.empty()) return 0;
  std::sort(magnitudes.begin(), magnitudes.end());
  // Zeros that pruning has yet to make.
  const double wanted = sparsity * static_cast<double>(gradient.size()) - static_cast<double>(zeros);
  if (wanted <= 0) return magnitudes.front();
  // With the first i magnitudes below tau, i - sum/tau of them become zero. That share grows with tau, so the
  // first interval that reaches what is wanted holds the threshold.
  double sum = 0;
  for (std::size_t i = 1; i <= magnitudes.size(); ++i) {
    sum += static_cast<double>(magnitudes[i - 1]);
    const auto below = static_cast<double>(i);
    if (below <= wanted) continue;
    const double tau = sum / (below - wanted);
    if (i == magnitudes.size() || tau <= static_cast<double>(magnitudes[i])) return tau;
  }
  // All finite magnitudes together are too few: infinities and NaN are never pruned.
  return static_cast<double>(magnitudes.back());
}

}  // namespace mantissa

#include "models/sparsity/lognormal.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/round.hpp"
#include "models/random/normal.hpp"

namespace mantissa {
namespace {

void check_sigma(double sigma) {
  if (!(sigma >= 0 && sigma <= max_sigma)) {
    throw std::invalid_argument("sigma " + std::to_string(sigma) +
                                " of ln|g| is out of range; it must be 0..20");
  }
}

void check_open_unit(const char* what, double value) {
  if (!(value > 0 && value < 1)) {
    throw std::invalid_argument(std::string(what) + " " + std::to_string(value) +
                                " is out of range; it must lie between 0 and 1");
  }
}

// log_alpha in standard deviations; the limit for a distribution that is one point.
double deviations(double log_alpha, double sigma) {
  if (sigma > 0) return log_alpha / sigma;
  if (log_alpha == 0) return 0;
  return std::copysign(std::numeric_limits<double>::infinity(), log_alpha);
}

// Where an increasing function is 0, to the last places of a double; the nearer end where it is not between
// them.
template <class Function>
double root(const Function& function, double low, double high) {
  namespace tools = boost::math::tools;
  const double at_low = function(low);
  const double at_high = function(high);
  if (!(at_low < 0)) return low;
  if (!(at_high > 0)) return high;
  std::uintmax_t steps = 1000;
  return tools::toms748_solve(function, low, high, at_low, at_high, tools::eps_tolerance<double>(), steps)
      .second;
}

}  // namespace

LognormalFit fit_lognormal(std::span<const float> gradient) {
  LognormalFit fit;
  fit.elements = gradient.size();
  std::vector<double> logs;
  logs.reserve(gradient.size());
  for (const float g : gradient) {
    const float magnitude = std::fabs(g);
    if (g == 0) {
      ++fit.zeros;
    } else if (!std::isfinite(g)) {
      ++fit.nonfinite;
    } else {
      fit.smallest = logs.empty() ? magnitude : std::min(fit.smallest, magnitude);
      logs.push_back(std::log(static_cast<double>(magnitude)));
    }
  }
  if (logs.empty()) return fit;
  const auto count = static_cast<double>(logs.size());
  double sum = 0;
  for (const double log : logs) sum += log;
  fit.mu = sum / count;
  if (logs.size() < 2) return fit;
  double squares = 0;
  for (const double log : logs) squares += (log - fit.mu) * (log - fit.mu);
  fit.sigma = std::sqrt(squares / (count - 1));
  if (fit.sigma == 0) return fit;
  const auto percentile = logs.end() - 1 - static_cast<std::ptrdiff_t>(logs.size() / 300);
  std::nth_element(logs.begin(), percentile, logs.end());
  fit.tail = (*percentile - fit.mu) / fit.sigma;
  return fit;
}

double pruned_share(double log_alpha, double sigma) {
  check_sigma(sigma);
  const double u = deviations(log_alpha, sigma);
  return normal_cdf(u) - std::exp(sigma * sigma / 2 - log_alpha) * normal_cdf(u - sigma);
}

double log_alpha_for_share(double share, double sigma) {
  check_sigma(sigma);
  check_open_unit("share of pruned elements", share);
  // Ten deviations below the median nothing is pruned; at the upper end all but 1e-17 is.
  return root([&](double log_alpha) { return pruned_share(log_alpha, sigma) - share; }, -10 * sigma,
              10 * sigma + sigma * sigma / 2 + 40);
}

double pruned_cosine(double log_alpha, double sigma, double tail) {
  check_sigma(sigma);
  // Pruning keeps the mean of every element, so cos^2 = E[g^2] / E[T^2]; both are divided by e^(2 sigma^2).
  const double u = deviations(log_alpha, sigma);
  const double before = normal_cdf(tail - 2 * sigma);
  const double below = std::exp(log_alpha - 1.5 * sigma * sigma) * normal_cdf(u - sigma);
  const double above = std::max(0.0, before - normal_cdf(u - 2 * sigma));
  return std::min(1.0, std::sqrt(before / (below + above)));
}

double log_alpha_for_cosine(double cosine, double sigma, double tail) {
  check_sigma(sigma);
  check_open_unit("cosine", cosine);
  // Far above the bulk cos^2 falls as e^(1.5 sigma^2) / alpha.
  const double high = 1.5 * sigma * sigma + 10 * sigma + 1 - 2 * std::log(cosine);
  return root([&](double log_alpha) { return cosine - pruned_cosine(log_alpha, sigma, tail); }, -10 * sigma,
              high);
}

double sparsity_at(double tau, const LognormalFit& fit) {
  const double before = fit.zero_share();
  if (tau <= fit.smallest) return before;
  return before + (1 - before) * pruned_share(std::log(tau) - fit.mu, fit.sigma);
}

double tau_for_sparsity(double sparsity, const LognormalFit& fit) {
  if (!(sparsity >= 0 && sparsity < 1)) {
    throw std::invalid_argument("sparsity " + std::to_string(sparsity) +
                                " is out of range; it must be at least 0 and below 1");
  }
  const double before = fit.zero_share();
  if (before >= sparsity || fit.smallest == 0) return fit.smallest;
  const double share = (sparsity - before) / (1 - before);
  return std::exp(fit.mu + log_alpha_for_share(share, fit.sigma));
}

double tau_for_cosine(double cosine, const LognormalFit& fit) {
  return std::exp(fit.mu + log_alpha_for_cosine(cosine, fit.sigma, fit.tail));
}

std::uint32_t tau_code(double tau, const Format& format) {
  if (!(tau >= 0)) throw std::invalid_argument("pruning threshold " + std::to_string(tau) + " is below 0");
  return round(Exact::from_double(tau), format, Rounding::rne(), 0, Overflow::saturate).code;
}

}  // namespace mantissa

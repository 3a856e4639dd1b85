#include "sim/trace/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sim/trace/distribution.hpp"

namespace mantissa::trace {
namespace {

bool counts(float value) { return value != 0 && std::isfinite(value); }

// Of `counted` elements, every one of an even spacing.
std::vector<float> sample_of(std::span<const float> gradient, std::size_t counted) {
  const std::size_t wanted = std::min(counted, most_ks_elements);
  std::vector<float> sample;
  sample.reserve(wanted);
  std::size_t seen = 0;
  for (const float value : gradient) {
    if (!counts(value)) continue;
    // Element floor(i * counted / wanted) is the i-th of the sample.
    if (sample.size() < wanted && seen == sample.size() * counted / wanted) sample.push_back(value);
    ++seen;
  }
  return sample;
}

// Two bins per binade.
void fill_histogram(std::span<const float> gradient, GradientReport& report) {
  constexpr int lowest = -149;  // of FP32, in binades
  constexpr std::size_t binades = 127 - lowest + 1;
  std::vector<std::uint64_t> bins(2 * binades);
  std::uint64_t total = 0;
  for (const float value : gradient) {
    if (!counts(value)) continue;
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);  // from 0.5 to 1
    ++bins[2 * (exponent - 1 - lowest) + (fraction < std::numbers::sqrt2_v<float> / 2 ? 0 : 1)];
    ++total;
  }
  report.histogram_width = 0.5;
  if (total == 0) return;
  const auto filled = [](std::uint64_t bin) { return bin != 0; };
  const auto first = std::find_if(bins.begin(), bins.end(), filled);
  const auto end = std::find_if(bins.rbegin(), bins.rend(), filled).base();
  report.histogram_first = lowest + 0.5 * static_cast<double>(first - bins.begin());
  for (auto bin = first; bin < end; ++bin)
    report.histogram.push_back(static_cast<double>(*bin) / static_cast<double>(total));
}

}  // namespace

GradientReport describe_gradient(std::span<const float> gradient) {
  const LognormalFit fit = fit_lognormal(gradient);
  GradientReport report;
  report.elements = fit.elements;
  report.zero_share = fit.zero_share();
  report.mu = fit.mu;
  report.sigma = fit.sigma;
  const std::size_t counted = fit.elements - fit.zeros - fit.nonfinite;
  const KsDistances distances = ks_distances(sample_of(gradient, counted), fit.mu, fit.sigma);
  report.ks_lognormal = distances.lognormal;
  report.ks_normal = distances.normal;
  report.ks_laplace = distances.laplace;
  fill_histogram(gradient, report);
  return report;
}

Fp8Advice best_fp8(const GradientReport& gradient) {
  const double sigma_log2 = std::min(gradient.sigma / std::numbers::ln2, max_sigma_log2);
  LognormalFit fit;
  fit.mu = gradient.mu;
  return {choose_format(8, sigma_log2), centring_scale(fit)};
}

}  // namespace mantissa::trace

#include "sim/trace/distribution.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace mantissa::trace {

double normal_cdf(double x, double mean, double deviation) {
  return 0.5 * std::erfc(-(x - mean) / (deviation * std::numbers::sqrt2));
}

double laplace_cdf(double x, double median, double scale) {
  const double z = (x - median) / scale;
  return z < 0 ? 0.5 * std::exp(z) : 1 - 0.5 * std::exp(-z);
}

KsDistances ks_distances(std::span<const float> sample, double mu, double sigma) {
  if (sample.empty()) return {};
  const auto count = static_cast<double>(sample.size());
  KsDistances distances;
  std::vector<float> sorted(sample.begin(), sample.end());
  hwy::Sorter()(sorted.data(), sorted.size(), hwy::SortAscending());
  std::vector<double> values(sorted.begin(), sorted.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  double squares = 0;
  double absolute = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
    absolute += std::fabs(value - median);
  }
  const double deviation = std::sqrt(squares / count);
  const double scale = absolute / count;
  if (deviation > 0)
    distances.normal = ks_distance(values, [&](double x) { return normal_cdf(x, mean, deviation); });
  if (scale > 0)
    distances.laplace = ks_distance(values, [&](double x) { return laplace_cdf(x, median, scale); });
  // Magnitudes ascend from the middle to both ends.
  const auto positive = std::lower_bound(sorted.begin(), sorted.end(), 0.0F);
  std::transform(sorted.begin(), positive, sorted.begin(), std::negate<>());
  std::reverse(sorted.begin(), positive);
  std::merge(sorted.begin(), positive, positive, sorted.end(), values.begin());
  if (sigma > 0)
    distances.lognormal = ks_distance(values, [&](double x) { return normal_cdf(std::log(x), mu, sigma); });
  return distances;
}

}  // namespace mantissa::trace

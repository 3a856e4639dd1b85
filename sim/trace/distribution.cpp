#include "sim/trace/distribution.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <boost/math/distributions/laplace.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace mantissa::trace {
namespace {

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

// Of a sorted sample from one of Boost's distributions.
template <class Distribution>
double distance(std::span<const double> sorted, const Distribution& distribution) {
  return ks_distance(sorted, [&](double x) { return cdf(distribution, x); });
}

// The order of finite FP32 is that of their codes as integers once negative ones are mirrored; Highway sorts
// those, because its sort of FP32 subtracts an epsilon of 2^-23 to step below a pivot, which passes over
// other elements where all are small and many are equal (version 1.0.3).
std::vector<float> ascending(std::span<const float> sample) {
  const auto mirrored = [](std::int32_t code) { return code ^ ((code >> 31) & 0x7fff'ffff); };
  std::vector<std::int32_t> keys(sample.size());
  std::transform(sample.begin(), sample.end(), keys.begin(),
                 [&](float value) { return mirrored(std::bit_cast<std::int32_t>(value)); });
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
  std::vector<float> sorted(sample.size());
  std::transform(keys.begin(), keys.end(), sorted.begin(),
                 [&](std::int32_t key) { return std::bit_cast<float>(mirrored(key)); });
  return sorted;
}

}  // namespace

KsDistances ks_distances(std::span<const float> sample, double mu, double sigma) {
  if (sample.empty()) return {};
  const auto count = static_cast<double>(sample.size());
  KsDistances distances;
  std::vector<float> sorted = ascending(sample);
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
    distances.normal = distance(values, boost::math::normal_distribution<double, Policy>(mean, deviation));
  if (scale > 0)
    distances.laplace = distance(values, boost::math::laplace_distribution<double, Policy>(median, scale));
  // Magnitudes ascend from the middle to both ends.
  const auto positive = std::lower_bound(sorted.begin(), sorted.end(), 0.0F);
  std::transform(sorted.begin(), positive, sorted.begin(), std::negate<>());
  std::reverse(sorted.begin(), positive);
  std::merge(sorted.begin(), positive, positive, sorted.end(), values.begin());
  if (sigma > 0)
    distances.lognormal = distance(values, boost::math::lognormal_distribution<double, Policy>(mu, sigma));
  return distances;
}

}  // namespace mantissa::trace

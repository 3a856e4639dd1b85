// How far a sample is from a distribution: the Kolmogorov-Smirnov distance, the largest difference between
// the share of a sample below x and the distribution's, over all x.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace mantissa::trace {

// `sorted` ascending; `cdf` is called once per element.
template <class Cdf>
double ks_distance(std::span<const double> sorted, const Cdf& cdf) {
  const auto count = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double expected = cdf(sorted[i]);
    // The sample's share jumps from i/n to (i+1)/n here.
    distance = std::max(
        {distance, expected - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - expected});
  }
  return distance;
}

// Deviation and scale above 0.
double normal_cdf(double x, double mean, double deviation);
double laplace_cdf(double x, double median, double scale);

// Distances of a sample from the members of three families that fit it best: ln|x| normal with the given mu
// and sigma; x normal with the sample's mean and deviation; x Laplace with its median and its mean distance
// from that.
struct KsDistances {
  double lognormal = 0;
  double normal = 0;
  double laplace = 0;
};

// `sample` has neither zeros nor anything that is not finite. A distance is 0 where the sample is empty, or
// where the best member is a single point, which then is all that the sample has.
KsDistances ks_distances(std::span<const float> sample, double mu, double sigma);

}  // namespace mantissa::trace

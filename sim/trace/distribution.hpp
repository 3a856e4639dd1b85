// How far a sample is from a distribution: the Kolmogorov-Smirnov distance, the largest difference between
// the share of a sample below x and the distribution's, over all x.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace mantissa::trace {

// `sorted` ascending. `cdf` does not fall, up to rounding errors far below ks_slack, so that most of the
// sample lies where the distance cannot be largest: there it is not called.
inline constexpr double ks_slack = 1e-9;
template <class Cdf>
double ks_distance(std::span<const double> sorted, const Cdf& cdf) {
  if (sorted.empty()) return 0;
  constexpr std::size_t block = 64;
  const auto count = static_cast<double>(sorted.size());
  double distance = 0;
  // The sample's share jumps from i/n to (i+1)/n at element i.
  const auto meet = [&](std::size_t i) {
    const double expected = cdf(sorted[i]);
    distance = std::max(
        {distance, expected - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - expected});
    return expected;
  };
  std::vector<double> ends;  // of cdf, at the first element of each block and at the last of all
  for (std::size_t i = 0; i < sorted.size(); i += block) ends.push_back(meet(i));
  ends.push_back(meet(sorted.size() - 1));
  for (std::size_t at = 0; at + 1 < ends.size(); ++at) {
    const std::size_t first = at * block;
    const std::size_t last = std::min(first + block, sorted.size());
    const double above = ends[at + 1] - static_cast<double>(first) / count;
    const double below = static_cast<double>(last) / count - ends[at];
    if (std::max(above, below) + ks_slack < distance) continue;
    for (std::size_t i = first + 1; i < last; ++i) meet(i);
  }
  return distance;
}

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

#include "models/sampling/optimal_levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

// Sums over the data from the first candidate up to a candidate, as distances from the smallest value.
struct Moments {
  double count = 0;
  double sum = 0;
  double square = 0;

  void add(double distance) {
    count += 1;
    sum += distance;
    square += distance * distance;
  }
  Moments operator+(const Moments& other) const {
    return {count + other.count, sum + other.sum, square + other.square};
  }
};

// `prefix` of a candidate includes the data at it: data at either end of an interval adds nothing.
struct Candidate {
  double distance = 0;
  Moments prefix;
};

// Sum over the data between two candidates of (b - x)(x - a) = -x^2 + (a + b) x - a b.
double variance_between(const Candidate& a, const Candidate& b) {
  const double count = b.prefix.count - a.prefix.count;
  const double sum = b.prefix.sum - a.prefix.sum;
  const double square = b.prefix.square - a.prefix.square;
  return std::max(0.0, (a.distance + b.distance) * sum - square - a.distance * b.distance * count);
}

OptimalLevels choose(const std::vector<Candidate>& candidates, int levels, double origin) {
  const std::size_t m = candidates.size();
  const std::size_t intervals = std::min<std::size_t>(levels, m) - 1;
  // best[j]: the least variance of the data up to candidate j with the intervals so far, the last ending at
  // j.
  std::vector<double> best(m, std::numeric_limits<double>::infinity());
  best[0] = 0;
  std::vector<std::vector<std::size_t>> start(intervals, std::vector<std::size_t>(m, 0));
  for (std::size_t interval = 0; interval < intervals; ++interval) {
    std::vector<double> next(m, std::numeric_limits<double>::infinity());
    for (std::size_t end = interval + 1; end < m; ++end) {
      for (std::size_t j = interval; j < end; ++j) {
        const double total = best[j] + variance_between(candidates[j], candidates[end]);
        if (total < next[end]) {
          next[end] = total;
          start[interval][end] = j;
        }
      }
    }
    best = std::move(next);
  }
  OptimalLevels result;
  result.mean_variance = best[m - 1] / candidates.back().prefix.count;
  std::size_t at = m - 1;
  result.level.push_back(origin + candidates[at].distance);
  for (std::size_t interval = intervals; interval-- > 0;) {
    at = start[interval][at];
    result.level.push_back(origin + candidates[at].distance);
  }
  std::reverse(result.level.begin(), result.level.end());
  return result;
}

void check(std::span<const float> data, int levels) {
  if (data.empty()) throw std::invalid_argument("optimal levels need data");
  if (!std::all_of(data.begin(), data.end(), [](float value) { return std::isfinite(value); })) {
    throw std::invalid_argument("optimal levels need finite data");
  }
  if (levels < 2) throw std::invalid_argument("at least 2 levels are needed, not " + std::to_string(levels));
}

}  // namespace

OptimalLevels optimal_levels(std::span<const float> data, int levels) {
  check(data, levels);
  std::vector<double> sorted(data.begin(), data.end());
  std::sort(sorted.begin(), sorted.end());
  const double origin = sorted.front();
  std::vector<Candidate> candidates;
  Moments prefix;
  for (const double value : sorted) {
    const double distance = value - origin;
    prefix.add(distance);
    if (candidates.empty() || distance != candidates.back().distance) candidates.push_back({distance, {}});
    candidates.back().prefix = prefix;
  }
  return choose(candidates, levels, origin);
}

OptimalLevels optimal_levels_bucketed(std::span<const float> data, int levels, int candidates) {
  check(data, levels);
  if (candidates < levels) {
    throw std::invalid_argument(std::to_string(levels) + " levels cannot be chosen from " +
                                std::to_string(candidates) + " candidates");
  }
  const auto [low, high] = std::minmax_element(data.begin(), data.end());
  const double origin = *low;
  const double width = *high - origin;
  if (width == 0) return {{origin}, 0};
  const double spacing = width / (candidates - 1);
  std::vector<Candidate> grid(candidates);
  for (int i = 0; i < candidates; ++i) grid[i].distance = i == candidates - 1 ? width : i * spacing;
  for (const double value : data) {
    // The bucket of a value is the first candidate at or above it.
    const double distance = value - origin;
    auto bucket = std::min(static_cast<std::size_t>(distance / spacing), grid.size() - 1);
    while (grid[bucket].distance < distance) ++bucket;
    while (bucket > 0 && grid[bucket - 1].distance >= distance) --bucket;
    grid[bucket].prefix.add(distance);
  }
  for (std::size_t i = 1; i < grid.size(); ++i) grid[i].prefix = grid[i - 1].prefix + grid[i].prefix;
  return choose(grid, levels, origin);
}

}  // namespace mantissa

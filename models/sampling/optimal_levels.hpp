// Quantisation levels that minimise the mean variance of stochastic rounding on given data (Zhang et al.
// 2017, "optimal quantization strategy"): a point x between levels a and b has variance (b - x)(x - a).
#pragma once

#include <span>
#include <vector>

namespace mantissa {

struct OptimalLevels {
  std::vector<double> level;  // ascending, from the smallest to the largest value
  double mean_variance = 0;   // over the data
};

// The optimum over all choices of `levels` levels, by dynamic programming in O(levels * N^2): the best levels
// are data points. Fewer are returned where the data has fewer distinct values. Throws std::invalid_argument
// for empty or non-finite data and for fewer than 2 levels.
OptimalLevels optimal_levels(std::span<const float> data, int levels);

// The optimum among `candidates` equally spaced points from the smallest to the largest value, in O(levels *
// candidates^2 + N). Throws like optimal_levels, and for fewer candidates than levels.
OptimalLevels optimal_levels_bucketed(std::span<const float> data, int levels, int candidates);

}  // namespace mantissa

// Channels for the batch norm tests, and derivatives of a loss by central differences.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace mantissa::test {

inline std::vector<float> gaussian(std::size_t n, std::uint32_t seed, float mean = 0.0F, float sigma = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution(mean, sigma);
  std::vector<float> values(n);
  for (float& value : values) value = distribution(engine);
  return values;
}

// Bits with every NaN alike, to compare with hardware floats whose NaN differs.
inline std::uint32_t bits_of(float value) {
  return std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value);
}

using Loss = std::function<double(const std::vector<double>&)>;

inline double central_difference(const Loss& loss, std::vector<double> at, std::size_t i) {
  const double step = 1e-5;
  const double centre = at[i];
  at[i] = centre + step;
  const double above = loss(at);
  at[i] = centre - step;
  return (above - loss(at)) / (2 * step);
}

}  // namespace mantissa::test

// Lognormal test data, and the table of thresholds that both the solver and the pruner are held against.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace mantissa::test {

// Signed values with ln|g| ~ N(mu, sigma^2).
inline std::vector<float> lognormal_gradient(std::size_t count, double mu, double sigma, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(mu, sigma);
  std::vector<float> gradient(count);
  for (float& g : gradient) {
    const auto magnitude = static_cast<float>(std::exp(normal(engine)));
    g = (engine() & 1) != 0 ? -magnitude : magnitude;
  }
  return gradient;
}

// log2(alpha) that makes each sparsity, to three digits; sigma is that of ln|g|.
struct ThresholdRow {
  double sigma;
  std::array<double, 7> log2_alpha;
};
inline constexpr std::array<double, 7> table_sparsity = {.50, .70, .80, .85, .90, .95, .99};
inline constexpr std::array<ThresholdRow, 8> threshold_table = {{
    {0.5, {1.137, 1.914, 2.502, 2.917, 3.502, 4.502, 6.824}},
    {1.0, {1.264, 2.287, 2.968, 3.418, 4.028, 5.041, 7.365}},
    {1.5, {1.328, 2.669, 3.517, 4.057, 4.761, 5.872, 8.262}},
    {2.0, {1.364, 3.045, 4.087, 4.738, 5.575, 6.856, 9.454}},
    {2.5, {1.386, 3.418, 4.665, 5.440, 6.425, 7.912, 10.829}},
    {3.0, {1.400, 3.791, 5.250, 6.153, 7.296, 9.009, 12.309}},
    {4.0, {1.417, 4.537, 6.432, 7.599, 9.073, 11.267, 15.427}},
    {5.0, {1.425, 5.284, 7.624, 9.063, 10.876, 13.570, 18.650}},
}};

}  // namespace mantissa::test

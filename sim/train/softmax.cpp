#include "sim/train/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace mantissa::train {
namespace {

// ln 2 in two parts: the first has few enough bits that its product with a binary exponent is exact.
constexpr double ln2_high = 0x1.62e42fee00000p-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

}  // namespace

double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x < -745) return 0;
  if (x > 709) return std::numeric_limits<double>::infinity();
  const double n = std::floor(x / (ln2_high + ln2_low) + 0.5);
  const double r = (x - n * ln2_high) - n * ln2_low;  // within ln(2) / 2 of zero
  // Taylor: the first term left out is below 2^-60.
  double sum = 1;
  for (int term = 16; term >= 1; --term) sum = 1 + r / term * sum;
  return std::ldexp(sum, static_cast<int>(n));
}

double portable_log(double x) {
  if (!(x > 0) || std::isinf(x)) return std::log(x);  // NaN, infinities
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // ln m = 2 artanh(s), |s| < 0.172.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int term = 23; term >= 1; term -= 2) sum = sum * square + 1.0 / term;
  return exponent * ln2_high + (exponent * ln2_low + 2 * s * sum);
}

BatchLoss softmax_cross_entropy(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                double scale, std::span<float> gradient) {
  const std::size_t batch = labels.size();
  if (batch == 0 || scores.size() % batch != 0 || (!gradient.empty() && gradient.size() != scores.size())) {
    throw std::invalid_argument(std::to_string(scores.size()) + " scores do not fit " +
                                std::to_string(batch) + " labels");
  }
  const std::size_t classes = scores.size() / batch;
  BatchLoss result;
  std::vector<double> share(classes);
  for (std::size_t image = 0; image < batch; ++image) {
    const std::span<const float> row = scores.subspan(image * classes, classes);
    const auto best = std::max_element(row.begin(), row.end());
    const std::size_t label = labels[image];
    if (static_cast<std::size_t>(best - row.begin()) == label) ++result.correct;
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      share[i] = portable_exp(static_cast<double>(row[i]) - static_cast<double>(*best));
      sum += share[i];
    }
    result.loss += portable_log(sum) - (static_cast<double>(row[label]) - static_cast<double>(*best));
    if (gradient.empty()) continue;
    for (std::size_t i = 0; i < classes; ++i) {
      const double error = share[i] / sum - (i == label ? 1 : 0);
      gradient[image * classes + i] = static_cast<float>(error * (scale / static_cast<double>(batch)));
    }
  }
  return result;
}

}  // namespace mantissa::train

#include "sim/trace/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/trace/chunks.hpp"

namespace mantissa::trace {
namespace {

// Mean and sum of squared distances from it; two of them join without cancellation (Chan et al. 1979).
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  void join(const Moments& other) {
    if (other.count == 0) return;
    const double total = count + other.count;
    const double distance = other.mean - mean;
    mean += distance * other.count / total;
    squares += other.squares + distance * distance * count * other.count / total;
    count = total;
  }
};

Moments moments_of(std::span<const float> values) {
  Moments moments;
  double sum = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++moments.count;
  }
  if (moments.count == 0) return moments;
  moments.mean = sum / moments.count;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double distance = value - moments.mean;
    moments.squares += distance * distance;
  }
  return moments;
}

}  // namespace

Statistics statistics_of(const Safetensors& file, const TensorInfo& tensor) {
  Statistics result;
  result.elements = tensor.elements();
  float smallest = std::numeric_limits<float>::infinity();
  Moments moments;
  for_each_chunk(file, tensor, [&](std::uint64_t, std::span<const float> values) {
    for (const float value : values) {
      const float magnitude = std::fabs(value);
      if (value == 0) {
        ++result.zeros;
      } else if (std::isfinite(value)) {
        smallest = std::min(smallest, magnitude);
        result.largest = std::max(result.largest, magnitude);
      } else {
        ++result.nonfinite;
      }
    }
    moments.join(moments_of(values));
  });
  if (std::isfinite(smallest)) result.smallest = smallest;
  result.mean = moments.mean;
  if (moments.count > 0) result.deviation = std::sqrt(moments.squares / moments.count);
  return result;
}

}  // namespace mantissa::trace

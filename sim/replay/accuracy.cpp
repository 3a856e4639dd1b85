#include "sim/replay/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "models/parallel/parallel.hpp"

namespace mantissa::replay {
namespace {

constexpr std::int64_t block_elements = 1 << 14;

struct Sums {
  double reference2 = 0;
  double difference2 = 0;
  double result2 = 0;
  double product = 0;
  double difference = 0;
  double magnitude = 0;
  double max_ulp = 0;
  std::uint64_t nonfinite = 0;

  Sums& operator+=(const Sums& other) {
    reference2 += other.reference2;
    difference2 += other.difference2;
    result2 += other.result2;
    product += other.product;
    difference += other.difference;
    magnitude += other.magnitude;
    max_ulp = std::max(max_ulp, other.max_ulp);
    nonfinite += other.nonfinite;
    return *this;
  }
};

// 2^exponent, also below the normal numbers of double.
double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

// Spacings of a grid by the exponent field of a double, so that no element needs a logarithm.
class Spacing {
 public:
  explicit Spacing(const Grid& grid) : inverse_(2048) {
    for (int field = 0; field < 2048; ++field) {
      const int exponent = std::max(field - 1023 + grid.scale, grid.format.min_exponent());
      inverse_[field] = power_of_two(-(exponent - grid.format.mantissa_bits - grid.scale));
    }
  }
  // Of the numbers around x.
  double units(double difference, double x) const {
    return std::fabs(difference) * inverse_[std::bit_cast<std::uint64_t>(x) >> 52 & 0x7FF];
  }

 private:
  std::vector<double> inverse_;
};

template <class Reference>
Sums sum_block(std::span<const float> results, std::span<const Reference> reference, const Spacing* spacing) {
  Sums sums;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double result = results[i];
    const auto expected = static_cast<double>(reference[i]);
    if (!std::isfinite(result)) {
      ++sums.nonfinite;
      continue;
    }
    const double difference = result - expected;
    sums.reference2 += expected * expected;
    sums.difference2 += difference * difference;
    sums.result2 += result * result;
    sums.product += result * expected;
    sums.difference += difference;
    sums.magnitude += std::fabs(expected);
    if (spacing != nullptr) sums.max_ulp = std::max(sums.max_ulp, spacing->units(difference, expected));
  }
  return sums;
}

}  // namespace

std::optional<Grid> grid_of(const EncodedTensor& tensor) {
  const ElementType type = tensor.type();
  if (type.is_integer()) return std::nullopt;
  return Grid{type.format(), tensor.scale()};
}

template <class Reference>
Accuracy measure_accuracy(std::span<const float> results, std::span<const Reference> reference,
                          const std::optional<Grid>& grid, int threads) {
  const auto count = static_cast<std::int64_t>(results.size());
  const std::int64_t blocks = (count + block_elements - 1) / block_elements;
  std::optional<Spacing> spacing;
  if (grid) spacing.emplace(*grid);
  std::vector<Sums> parts(blocks);
  parallel_ranges(blocks, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * block_elements;
      const std::int64_t size = std::min(block_elements, count - first);
      parts[i] = sum_block(results.subspan(first, size), reference.subspan(first, size),
                           spacing ? &*spacing : nullptr);
    }
  });
  Sums sums;
  for (const Sums& part : parts) sums += part;

  const double nan = std::numeric_limits<double>::quiet_NaN();
  Accuracy accuracy;
  accuracy.elements = results.size();
  accuracy.nonfinite = sums.nonfinite;
  if (sums.nonfinite != 0) {
    // An infinite error has no figure; one of the other elements alone would look harmless.
    accuracy.sqnr_db = accuracy.cosine = accuracy.max_ulp = accuracy.bias = nan;
    return accuracy;
  }
  accuracy.sqnr_db = sums.reference2 == 0 ? nan : 10 * std::log10(sums.reference2 / sums.difference2);
  const double norms = std::sqrt(sums.reference2) * std::sqrt(sums.result2);
  accuracy.cosine = norms == 0 ? nan : std::min(1.0, sums.product / norms);
  accuracy.max_ulp = grid ? sums.max_ulp : nan;
  accuracy.bias = sums.magnitude == 0 ? nan : sums.difference / sums.magnitude;
  return accuracy;
}

void add_counts(Accuracy& accuracy, const ConversionCounts& counts) {
  accuracy.overflow += counts.overflow;
  accuracy.underflow += counts.underflow;
  accuracy.flushed_to_zero += counts.flushed_to_zero;
}

template Accuracy measure_accuracy(std::span<const float>, std::span<const float>, const std::optional<Grid>&,
                                   int);
template Accuracy measure_accuracy(std::span<const float>, std::span<const double>,
                                   const std::optional<Grid>&, int);

}  // namespace mantissa::replay

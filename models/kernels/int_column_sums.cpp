#include "models/kernels/int_column_sums.hpp"

#include <algorithm>
#include <cstddef>

namespace mantissa::kernels {

ColumnSums column_sums(const ConvPlan& plan, std::int64_t groups, std::span<const std::uint16_t> w,
                       std::uint16_t zero, const IntOutput& output) {
  ColumnSums sums;
  const auto channels = static_cast<std::size_t>(plan.out_channels);
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::uint16_t* weight = w.data() + group * (w.size() / groups);
    std::vector<double> all(channels);
    const std::size_t first = sums.holes.size();
    for (const ConvPart& part : plan.parts) {
      for (std::size_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (const ConvTap& tap : part.taps) sum += weight[c * plan.weight_stride + tap.weight];
        sums.holes.push_back(sum);
        all[c] += sum;
      }
    }
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      for (std::size_t c = 0; c < channels; ++c) {
        double& sum = sums.holes[first + part * channels + c];
        sum = zero * (all[c] - sum);
      }
    }
    for (const double sb : all) {
      sums.column.push_back(output.column(sb));
      sums.largest = std::max(sums.largest, sb);
    }
  }
  return sums;
}

}  // namespace mantissa::kernels

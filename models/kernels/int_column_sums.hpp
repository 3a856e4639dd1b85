// What the outputs of one channel share in the forward pass and the input gradient of an integer convolution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/kernels/conv_plan.hpp"
#include "models/kernels/int_output.hpp"

namespace mantissa::kernels {

struct ColumnSums {
  std::vector<float> column;  // IntOutput::column() of SB: [group][channel]
  double largest = 0;         // SB
  std::vector<double> holes;  // what the holes of a part add to S: [group][part][channel]
};

// S of an output is the sum over its part's taps, and over holes, where every other weight of the channel
// meets `zero`. The plan keeps no holes, so each weight belongs to one part.
ColumnSums column_sums(const ConvPlan& plan, std::int64_t groups, std::span<const std::uint16_t> w,
                       std::uint16_t zero, const IntOutput& output);

}  // namespace mantissa::kernels

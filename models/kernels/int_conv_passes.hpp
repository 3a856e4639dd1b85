// The two kernels behind the three passes of an integer convolution.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/kernels/conv_plan.hpp"
#include "models/kernels/int_conv.hpp"

namespace mantissa::kernels {

// Forward pass or input gradient; the plan keeps no holes.
void int_correlate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, const IntTensor& source,
                   const IntTensor& w, std::span<float> out, int threads);

// Takes S of a weight: (group, output channel of the group, weight of that channel, S).
using IntWeightWriter = std::function<void(std::int64_t, std::int64_t, std::int64_t, double)>;

void int_accumulate_weight_gradient(const ConvShape& shape, const IntTensor& g, const IntTensor& x,
                                    std::span<float> dw, int threads);

}  // namespace mantissa::kernels

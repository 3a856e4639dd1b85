// The two kernels behind the three passes of a convolution.
#pragma once

#include <span>

#include "models/kernels/conv_plan.hpp"

namespace mantissa::kernels {

// Forward pass or input gradient: every image of the source, group by group, through the plan.
void correlate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, std::span<const float> source,
               std::span<const float> w, std::span<float> out, int threads);

void accumulate_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                                std::span<float> dw, int threads);

}  // namespace mantissa::kernels

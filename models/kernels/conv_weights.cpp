#include "models/format/convert.hpp"
#include "models/kernels/conv_passes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/conv_weights.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/conv_weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

void FloatWeightGradient(const ConvShape& s, std::span<const float> g, std::span<const float> x,
                         std::span<float> dw, int threads) {
  const std::int64_t weights = s.in_group() * s.kernel[0] * s.kernel[1];
  for (std::int64_t group = 0; group < s.groups; ++group) {
    const auto write = [&](std::int64_t channel, std::int64_t weight, float sum) {
      // A product that underflows may leave -0.
      dw[(group * s.out_group() + channel) * weights + weight] =
          sum != sum ? fp32_value(formats::fp32.nan_code()) : sum + 0.0F;
    };
    WeightGradient<float, float, float, decltype(write)>(
        s, g.data() + group * s.out_group() * s.out[0] * s.out[1],
        x.data() + group * s.in_group() * s.in[0] * s.in[1], 0.0F, s.out[0], write)
        .Run(threads);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(FloatWeightGradient);

void accumulate_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                                std::span<float> dw, int threads) {
  HWY_DYNAMIC_DISPATCH(FloatWeightGradient)(shape, g, x, dw, threads);
}

}  // namespace mantissa::kernels
#endif

#include <vector>

#include "models/kernels/int_conv_passes.hpp"
#include "models/kernels/int_output.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/int_conv_weights.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/conv_weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

template <class T>
void IntWeightSumsIn(const ConvShape& s, const IntTensor& g, const IntTensor& x, std::int64_t rows,
                     int threads, const IntWeightWriter& write) {
  for (std::int64_t group = 0; group < s.groups; ++group) {
    const auto write_group = [&](std::int64_t channel, std::int64_t weight, double sum) {
      write(group, channel, weight, sum);
    };
    WeightGradient<std::uint16_t, T, double, decltype(write_group)>(
        s, g.values.q.data() + group * s.out_group() * s.out[0] * s.out[1],
        x.values.q.data() + group * s.in_group() * s.in[0] * s.in[1], x.zero, rows, write_group)
        .Run(threads);
  }
}

// So many products of 8 x 8 bits add up exactly in FP32; in FP64 all do that a sum may have.
void IntWeightSums(const ConvShape& s, const IntTensor& g, const IntTensor& x, int threads,
                   const IntWeightWriter& write) {
  constexpr std::int64_t places = ((1 << 24) - 1) / (255 * 255);
  if (g.values.bits == 8 && x.values.bits == 8 && s.out[1] <= places) {
    IntWeightSumsIn<float>(s, g, x, places / s.out[1], threads, write);
  } else {
    IntWeightSumsIn<double>(s, g, x, s.out[0], threads, write);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {

// SA of every output channel.
std::vector<double> gradient_sums(const ConvShape& s, std::span<const std::uint16_t> g) {
  const std::int64_t places = s.out[0] * s.out[1];
  std::vector<double> sums(s.out_channels);
  for (std::int64_t plane = 0; plane < s.batch * s.out_channels; ++plane) {
    std::uint64_t sum = 0;
    for (const std::uint16_t q : g.subspan(plane * places, places)) sum += q;
    sums[plane % s.out_channels] += static_cast<double>(sum);
  }
  return sums;
}

// SB of every weight of one output channel, by input channel: the windows over the sum of all images.
std::vector<double> window_sums(const ConvShape& s, const IntTensor& x) {
  const std::int64_t image = s.in_channels * s.in[0] * s.in[1];
  std::vector<std::uint64_t> all(image);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::uint16_t* from = x.values.q.data() + b * image;
    for (std::int64_t i = 0; i < image; ++i) all[i] += from[i];
  }
  const std::uint64_t padding = static_cast<std::uint64_t>(s.batch) * x.zero;
  std::vector<double> sums;
  for (std::int64_t c = 0; c < s.in_channels; ++c) {
    for (std::int64_t kr = 0; kr < s.kernel[0]; ++kr) {
      for (std::int64_t kc = 0; kc < s.kernel[1]; ++kc) {
        std::uint64_t sum = 0;
        for (std::int64_t oh = 0; oh < s.out[0]; ++oh) {
          const std::int64_t h = oh * s.stride[0] + kr * s.dilation[0] - s.padding[0];
          for (std::int64_t ow = 0; ow < s.out[1]; ++ow) {
            const std::int64_t v = ow * s.stride[1] + kc * s.dilation[1] - s.padding[1];
            const bool inside = h >= 0 && h < s.in[0] && v >= 0 && v < s.in[1];
            sum += inside ? all[(c * s.in[0] + h) * s.in[1] + v] : padding;
          }
        }
        sums.push_back(static_cast<double>(sum));
      }
    }
  }
  return sums;
}

}  // namespace

HWY_EXPORT(IntWeightSums);

void int_accumulate_weight_gradient(const ConvShape& s, const IntTensor& g, const IntTensor& x,
                                    std::span<float> dw, int threads) {
  const IntOutput output(s.batch * s.out[0] * s.out[1], g.values, x.values);
  const std::vector<double> row_sums = gradient_sums(s, g.values.q);
  const std::int64_t weights = s.in_group() * s.kernel[0] * s.kernel[1];
  std::vector<float> column;
  for (const double sb : window_sums(s, x)) column.push_back(output.column(sb));
  HWY_DYNAMIC_DISPATCH(IntWeightSums)
  (s, g, x, threads, [&](std::int64_t group, std::int64_t channel, std::int64_t weight, double sum) {
    const std::int64_t o = group * s.out_group() + channel;
    dw[o * weights + weight] = output.output(sum, row_sums[o], column[group * weights + weight]);
  });
}

}  // namespace mantissa::kernels
#endif

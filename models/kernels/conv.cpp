#include "models/kernels/conv.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/kernels/parallel.hpp"

namespace mantissa::kernels {
namespace {

void check_spans(const ConvShape& shape, std::size_t x, std::size_t w, std::size_t y) {
  check_conv_shape(shape);
  const auto check = [](const char* name, std::int64_t wanted, std::size_t found) {
    if (static_cast<std::size_t>(wanted) != found) {
      throw std::invalid_argument(std::string("convolution: ") + name + " should have " +
                                  std::to_string(wanted) + " elements, not " + std::to_string(found));
    }
  };
  check("the input", shape.inputs(), x);
  check("the weight", shape.weights(), w);
  check("the output", shape.outputs(), y);
}

float finished(float sum) { return sum != sum ? fp32_value(formats::fp32.nan_code()) : sum + 0.0F; }

}  // namespace

void conv_forward(const ConvShape& s, std::span<const float> x, std::span<const float> w, std::span<float> y,
                  int threads) {
  check_spans(s, x.size(), w.size(), y.size());
  parallel_ranges(s.batch * s.out_channels, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t b = plane / s.out_channels;
      const std::int64_t o = plane % s.out_channels;
      const std::int64_t c0 = o / s.out_group() * s.in_group();
      for (std::int64_t oh = 0; oh < s.out[0]; ++oh) {
        for (std::int64_t ow = 0; ow < s.out[1]; ++ow) {
          float sum = 0;
          const float* weight = w.data() + o * s.in_group() * s.kernel[0] * s.kernel[1];
          for (std::int64_t c = 0; c < s.in_group(); ++c) {
            const float* image = x.data() + (b * s.in_channels + c0 + c) * s.in[0] * s.in[1];
            for (std::int64_t kr = 0; kr < s.kernel[0]; ++kr) {
              const std::int64_t h = oh * s.stride[0] + kr * s.dilation[0] - s.padding[0];
              for (std::int64_t kc = 0; kc < s.kernel[1]; ++kc, ++weight) {
                const std::int64_t v = ow * s.stride[1] + kc * s.dilation[1] - s.padding[1];
                const bool inside = h >= 0 && h < s.in[0] && v >= 0 && v < s.in[1];
                sum = std::fma(inside ? image[h * s.in[1] + v] : 0.0F, *weight, sum);
              }
            }
          }
          y[(plane * s.out[0] + oh) * s.out[1] + ow] = finished(sum);
        }
      }
    }
  });
}

void conv_input_gradient(const ConvShape& s, std::span<const float> g, std::span<const float> w,
                         std::span<float> dx, int threads) {
  check_spans(s, dx.size(), w.size(), g.size());
  parallel_ranges(s.batch * s.in_channels, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t b = plane / s.in_channels;
      const std::int64_t c = plane % s.in_channels;
      const std::int64_t o0 = c / s.in_group() * s.out_group();
      for (std::int64_t h = 0; h < s.in[0]; ++h) {
        for (std::int64_t v = 0; v < s.in[1]; ++v) {
          float sum = 0;
          for (std::int64_t o = o0; o < o0 + s.out_group(); ++o) {
            const float* image = g.data() + (b * s.out_channels + o) * s.out[0] * s.out[1];
            const float* weight =
                w.data() + (o * s.in_group() + c % s.in_group()) * s.kernel[0] * s.kernel[1];
            for (std::int64_t kr = 0; kr < s.kernel[0]; ++kr) {
              const std::int64_t row = h + s.padding[0] - kr * s.dilation[0];
              for (std::int64_t kc = 0; kc < s.kernel[1]; ++kc, ++weight) {
                const std::int64_t col = v + s.padding[1] - kc * s.dilation[1];
                const bool inside = row >= 0 && row % s.stride[0] == 0 && row / s.stride[0] < s.out[0] &&
                                    col >= 0 && col % s.stride[1] == 0 && col / s.stride[1] < s.out[1];
                sum = std::fma(inside ? image[row / s.stride[0] * s.out[1] + col / s.stride[1]] : 0.0F,
                               *weight, sum);
              }
            }
          }
          dx[(plane * s.in[0] + h) * s.in[1] + v] = finished(sum);
        }
      }
    }
  });
}

void conv_weight_gradient(const ConvShape& s, std::span<const float> g, std::span<const float> x,
                          std::span<float> dw, int threads) {
  check_spans(s, x.size(), dw.size(), g.size());
  const std::int64_t taps = s.kernel[0] * s.kernel[1];
  parallel_ranges(s.weights(), 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t place = begin; place < end; ++place) {
      const std::int64_t o = place / taps / s.in_group();
      const std::int64_t c = o / s.out_group() * s.in_group() + place / taps % s.in_group();
      const std::int64_t top = place % taps / s.kernel[1] * s.dilation[0] - s.padding[0];
      const std::int64_t left = place % s.kernel[1] * s.dilation[1] - s.padding[1];
      float sum = 0;
      for (std::int64_t b = 0; b < s.batch; ++b) {
        const float* image = x.data() + (b * s.in_channels + c) * s.in[0] * s.in[1];
        const float* gradient = g.data() + (b * s.out_channels + o) * s.out[0] * s.out[1];
        for (std::int64_t oh = 0; oh < s.out[0]; ++oh) {
          const std::int64_t h = oh * s.stride[0] + top;
          for (std::int64_t ow = 0; ow < s.out[1]; ++ow, ++gradient) {
            const std::int64_t v = ow * s.stride[1] + left;
            const bool inside = h >= 0 && h < s.in[0] && v >= 0 && v < s.in[1];
            sum = std::fma(*gradient, inside ? image[h * s.in[1] + v] : 0.0F, sum);
          }
        }
      }
      dw[place] = finished(sum);
    }
  });
}

}  // namespace mantissa::kernels

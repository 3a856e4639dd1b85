#include "models/kernels/conv.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/kernels/conv_check.hpp"
#include "models/kernels/conv_passes.hpp"
#include "models/kernels/gemm_float.hpp"

namespace mantissa::kernels {
void conv_forward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                  std::span<float> y, int threads) {
  check_conv_sizes(shape, x.size(), w.size(), y.size());
  if (is_linear(shape)) {
    const std::vector<float> b = transposed(w, shape.out_channels, shape.in_channels);
    gemm_float({shape.batch, shape.out_channels, shape.in_channels, x, b}, y, threads);
    return;
  }
  correlate(forward_plan(shape), shape.batch, shape.groups, x, w, y, threads);
}

void conv_input_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> w,
                         std::span<float> dx, int threads) {
  check_conv_sizes(shape, dx.size(), w.size(), g.size());
  if (is_linear(shape)) {
    gemm_float({shape.batch, shape.in_channels, shape.out_channels, g, w}, dx, threads);
    return;
  }
  const bool finite = std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); });
  correlate(input_gradient_plan(shape, !finite), shape.batch, shape.groups, g, w, dx, threads);
}

void conv_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                          std::span<float> dw, int threads) {
  check_conv_sizes(shape, x.size(), dw.size(), g.size());
  if (is_linear(shape)) {
    const std::vector<float> a = transposed(g, shape.batch, shape.out_channels);
    gemm_float({shape.out_channels, shape.in_channels, shape.batch, a, x}, dw, threads);
    return;
  }
  accumulate_weight_gradient(shape, g, x, dw, threads);
}

}  // namespace mantissa::kernels

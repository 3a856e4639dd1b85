#include "models/kernels/conv.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/kernels/conv_passes.hpp"
#include "models/kernels/gemm_float.hpp"

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

bool is_linear(const ConvShape& s) {
  constexpr std::array<std::int64_t, 2> one{1, 1};
  return s.groups == 1 && s.in == one && s.out == one && s.kernel == one && s.padding[0] == 0 &&
         s.padding[1] == 0;
}

// [rows][columns] as [columns][rows]
std::vector<float> transposed(std::span<const float> matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  }
  return result;
}

}  // namespace

void conv_forward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                  std::span<float> y, int threads) {
  check_spans(shape, x.size(), w.size(), y.size());
  if (is_linear(shape)) {
    const std::vector<float> b = transposed(w, shape.out_channels, shape.in_channels);
    gemm_float({shape.batch, shape.out_channels, shape.in_channels, x, b}, y, threads);
    return;
  }
  correlate(forward_plan(shape), shape.batch, shape.groups, x, w, y, threads);
}

void conv_input_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> w,
                         std::span<float> dx, int threads) {
  check_spans(shape, dx.size(), w.size(), g.size());
  if (is_linear(shape)) {
    gemm_float({shape.batch, shape.in_channels, shape.out_channels, g, w}, dx, threads);
    return;
  }
  const bool finite = std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); });
  correlate(input_gradient_plan(shape, !finite), shape.batch, shape.groups, g, w, dx, threads);
}

void conv_weight_gradient(const ConvShape& shape, std::span<const float> g, std::span<const float> x,
                          std::span<float> dw, int threads) {
  check_spans(shape, x.size(), dw.size(), g.size());
  if (is_linear(shape)) {
    const std::vector<float> a = transposed(g, shape.batch, shape.out_channels);
    gemm_float({shape.out_channels, shape.in_channels, shape.batch, a, x}, dw, threads);
    return;
  }
  accumulate_weight_gradient(shape, g, x, dw, threads);
}

}  // namespace mantissa::kernels

#include "models/kernels/int_conv.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "models/kernels/conv_check.hpp"
#include "models/kernels/gemm_float.hpp"
#include "models/kernels/int_conv_passes.hpp"
#include "models/mac/accumulator.hpp"

namespace mantissa::kernels {
namespace {

// `padded` is the operand whose zero is used.
void check(const IntTensor& a, const IntTensor& b, const IntTensor& padded, std::int64_t k) {
  check_int_operands(a.values, b.values);
  if (padded.zero >> padded.values.bits != 0) {
    throw std::invalid_argument("integer convolution: zero is " + std::to_string(padded.zero) +
                                ", which does not fit " + std::to_string(padded.values.bits) + " bits");
  }
  if (k > Accumulator::max_k) {
    throw std::invalid_argument("integer convolution: " + std::to_string(k) +
                                " products in a sum; the most is 2^24");
  }
}

IntMatrix with(const IntMatrix& matrix, std::span<const std::uint16_t> q) {
  IntMatrix result = matrix;
  result.q = q;
  return result;
}

}  // namespace

void int_conv_forward(const ConvShape& shape, const IntTensor& x, const IntTensor& w, std::span<float> y,
                      int threads) {
  check_conv_sizes(shape, x.values.q.size(), w.values.q.size(), y.size());
  check(x, w, x, shape.in_group() * shape.kernel[0] * shape.kernel[1]);
  if (is_linear(shape)) {
    const std::vector<std::uint16_t> b = transposed(w.values.q, shape.out_channels, shape.in_channels);
    int_gemm({shape.batch, shape.out_channels, shape.in_channels, x.values, with(w.values, b)}, y, threads);
    return;
  }
  int_correlate(forward_plan(shape), shape.batch, shape.groups, x, w, y, threads);
}

void int_conv_input_gradient(const ConvShape& shape, const IntTensor& g, const IntTensor& w,
                             std::span<float> dx, int threads) {
  check_conv_sizes(shape, dx.size(), w.values.q.size(), g.values.q.size());
  check(g, w, g, shape.out_group() * shape.kernel[0] * shape.kernel[1]);
  if (is_linear(shape)) {
    int_gemm({shape.batch, shape.in_channels, shape.out_channels, g.values, w.values}, dx, threads);
    return;
  }
  int_correlate(input_gradient_plan(shape, false), shape.batch, shape.groups, g, w, dx, threads);
}

void int_conv_weight_gradient(const ConvShape& shape, const IntTensor& g, const IntTensor& x,
                              std::span<float> dw, int threads) {
  check_conv_sizes(shape, x.values.q.size(), dw.size(), g.values.q.size());
  check(g, x, x, shape.batch * shape.out[0] * shape.out[1]);
  if (is_linear(shape)) {
    const std::vector<std::uint16_t> a = transposed(g.values.q, shape.batch, shape.out_channels);
    int_gemm({shape.out_channels, shape.in_channels, shape.batch, with(g.values, a), x.values}, dw, threads);
    return;
  }
  int_accumulate_weight_gradient(shape, g, x, dw, threads);
}

}  // namespace mantissa::kernels

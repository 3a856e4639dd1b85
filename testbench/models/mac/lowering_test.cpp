// The lowered products against convolutions written as their definition says, on whole numbers, which add
// exactly in any order.
#include "models/mac/lowering.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace mantissa::replay {
namespace {

using Tensor = std::vector<float>;

Tensor whole_numbers(std::int64_t count, std::mt19937_64& engine) {
  std::uniform_int_distribution<int> uniform(-4, 4);
  Tensor tensor(count);
  for (float& x : tensor) x = static_cast<float>(uniform(engine));
  return tensor;
}

ConvShape geometry(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t groups, std::int64_t h,
                   std::int64_t w, std::array<std::int64_t, 2> kernel, std::array<std::int64_t, 2> stride,
                   std::array<std::int64_t, 2> padding, std::array<std::int64_t, 2> dilation) {
  ConvShape g{.batch = batch,
              .in_channels = in,
              .out_channels = out,
              .groups = groups,
              .in = {h, w},
              .kernel = kernel,
              .stride = stride,
              .padding = padding,
              .dilation = dilation};
  for (int i = 0; i < 2; ++i)
    g.out[i] = (g.in[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
  return g;
}

// Calls body(x index, w index, y index) for every product of the convolution.
template <class Body>
void for_products(const ConvShape& g, const Body& body) {
  for (std::int64_t b = 0; b < g.batch; ++b) {
    for (std::int64_t o = 0; o < g.out_channels; ++o) {
      for (std::int64_t c = 0; c < g.in_group(); ++c) {
        for (std::int64_t oh = 0; oh < g.out[0]; ++oh) {
          for (std::int64_t ow = 0; ow < g.out[1]; ++ow) {
            for (std::int64_t kr = 0; kr < g.kernel[0]; ++kr) {
              for (std::int64_t kc = 0; kc < g.kernel[1]; ++kc) {
                const std::int64_t h = oh * g.stride[0] + kr * g.dilation[0] - g.padding[0];
                const std::int64_t w = ow * g.stride[1] + kc * g.dilation[1] - g.padding[1];
                if (h < 0 || h >= g.in[0] || w < 0 || w >= g.in[1]) continue;
                const std::int64_t channel = o / g.out_group() * g.in_group() + c;
                body(((b * g.in_channels + channel) * g.in[0] + h) * g.in[1] + w,
                     ((o * g.in_group() + c) * g.kernel[0] + kr) * g.kernel[1] + kc,
                     ((b * g.out_channels + o) * g.out[0] + oh) * g.out[1] + ow);
              }
            }
          }
        }
      }
    }
  }
}

// Where output (m, n) of a group stands in its tensor.
std::int64_t place(const ConvShape& g, Pass pass, std::int64_t group, std::int64_t m, std::int64_t n) {
  if (pass == Pass::weight_gradient)
    return (group * g.out_group() + m) * g.in_group() * g.kernel[0] * g.kernel[1] + n;
  const bool forward = pass == Pass::forward;
  const std::int64_t image = forward ? g.out[0] * g.out[1] : g.in[0] * g.in[1];
  const std::int64_t channels = forward ? g.out_channels : g.in_channels;
  const std::int64_t channel = group * (forward ? g.out_group() : g.in_group()) + n;
  return (m / image * channels + channel) * image + m % image;
}

// The product of the lowered matrices, lowered in parts of odd sizes.
Tensor product(const ConvShape& g, Pass pass, const Tensor& first, const Tensor& second,
               std::size_t outputs) {
  const auto [m, n, k] = sides_of(g, pass);
  Tensor result(outputs, -100);
  for (std::int64_t group = 0; group < g.groups; ++group) {
    Tensor a(m * k);
    Tensor b(k * n);
    for (std::int64_t row = 0; row < m; row += 5) {
      for (std::int64_t col = 0; col < k; col += 7) {
        const Rectangle part{row, std::min(row + 5, m), col, std::min(col + 7, k)};
        Tensor piece(part.elements());
        lower_a<float>(g, pass, group, part, first, 0, piece, 2);
        for (std::int64_t i = 0; i < part.elements(); ++i)
          a[(row + i / part.cols()) * k + col + i % part.cols()] = piece[i];
      }
    }
    for (std::int64_t row = 0; row < k; row += 4) {
      for (std::int64_t col = 0; col < n; col += 3) {
        const Rectangle part{row, std::min(row + 4, k), col, std::min(col + 3, n)};
        Tensor piece(part.elements());
        lower_b<float>(g, pass, group, part, second, 0, piece, 1);
        for (std::int64_t i = 0; i < part.elements(); ++i)
          b[(row + i / part.cols()) * n + col + i % part.cols()] = piece[i];
      }
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        result[place(g, pass, group, i, j)] = sum;
      }
    }
  }
  return result;
}

TEST(Lowering, ThreePassesAreTheConvolutionsOwn) {
  std::mt19937_64 engine(3);
  const ConvShape cases[] = {
      geometry(2, 3, 4, 1, 5, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}),
      geometry(2, 2, 3, 1, 7, 6, {3, 2}, {2, 2}, {1, 0}, {1, 1}),  // the last column is never read
      geometry(1, 4, 6, 2, 9, 8, {3, 3}, {2, 1}, {2, 1}, {2, 3}),  // holes both ways, groups
      geometry(1, 4, 4, 4, 6, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}),  // depthwise
      geometry(3, 3, 5, 1, 4, 4, {1, 1}, {2, 2}, {0, 0}, {1, 1}),
      geometry(7, 10, 3, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}),  // linear
      geometry(1, 1, 1, 1, 2, 2, {4, 4}, {1, 1}, {1, 1}, {1, 1}),   // kernel larger than the image
  };
  for (const ConvShape& g : cases) {
    const Tensor x = whole_numbers(g.inputs(), engine);
    const Tensor w = whole_numbers(g.weights(), engine);
    const Tensor dy = whole_numbers(g.outputs(), engine);
    Tensor y(g.outputs());
    Tensor dx(g.inputs());
    Tensor dw(g.weights());
    for_products(g, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
      y[o] += x[i] * w[j];
      dx[i] += dy[o] * w[j];
      dw[j] += dy[o] * x[i];
    });
    EXPECT_EQ(product(g, Pass::forward, x, w, y.size()), y);
    EXPECT_EQ(product(g, Pass::input_gradient, dy, w, dx.size()), dx);
    EXPECT_EQ(product(g, Pass::weight_gradient, dy, x, dw.size()), dw);
  }
}

TEST(Lowering, PaddingTakesTheZeroThatItIsGiven) {
  const ConvShape g = geometry(1, 1, 1, 1, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1});
  const std::vector<std::uint16_t> x = {7};
  std::vector<std::uint16_t> a(9);
  lower_a<std::uint16_t>(g, Pass::forward, 0, {0, 1, 0, 9}, x, 99, a, 1);
  EXPECT_EQ(a, (std::vector<std::uint16_t>{99, 99, 99, 99, 7, 99, 99, 99, 99}));
}

}  // namespace
}  // namespace mantissa::replay

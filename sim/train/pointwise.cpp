#include "sim/train/pointwise.hpp"

#include <algorithm>

#include "models/mac/arithmetic.hpp"
#include "models/norm/channel.hpp"
#include "models/parallel/parallel.hpp"

namespace mantissa::train {
namespace {

// Few enough ranges that a small tensor stays on one thread.
constexpr std::int64_t grain = 1 << 15;

template <class Body>
void for_elements(std::size_t count, int threads, const Body& body) {
  parallel_ranges(static_cast<std::int64_t>(count), grain, threads, body);
}

// Calls body(plane) for every channel of every image.
template <class Body>
void for_planes(const Node& node, std::int64_t batch, int threads, const Body& body) {
  const std::int64_t per_range = std::max<std::int64_t>(1, grain / node.in_shape.spatial());
  parallel_ranges(batch * node.in_shape.channels, per_range, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t plane = begin; plane < end; ++plane) body(plane);
                  });
}

}  // namespace

void relu_forward(const Tensor& x, Tensor& y, int threads) {
  y.values.resize(x.values.size());
  for_elements(x.values.size(), threads, [&](std::int64_t begin, std::int64_t end) {
    const float* in = x.values.data();
    float* out = y.values.data();
    for (std::int64_t i = begin; i < end; ++i) out[i] = in[i] <= 0 ? 0.0F : in[i];
  });
  y.grid = x.grid;
}

void relu_backward(const Tensor& y, Tensor& gradient, int threads) {
  for_elements(y.values.size(), threads, [&](std::int64_t begin, std::int64_t end) {
    const float* out = y.values.data();
    float* g = gradient.values.data();
    for (std::int64_t i = begin; i < end; ++i) g[i] = out[i] > 0 ? g[i] : 0.0F;
  });
}

void add(const Tensor& x, const Tensor& y, Tensor& z, int threads) {
  z.values.resize(x.values.size());
  for_elements(x.values.size(), threads, [&](std::int64_t begin, std::int64_t end) {
    const float* a = x.values.data();
    const float* b = y.values.data();
    float* sum = z.values.data();
    for (std::int64_t i = begin; i < end; ++i) sum[i] = f32::add(a[i], b[i]);
  });
  z.grid.reset();
}

void max_pool_forward(const Node& node, std::int64_t batch, const Tensor& x, Tensor& y,
                      std::vector<std::int32_t>& choice, int threads) {
  const ValueShape& in = node.in_shape;
  const ValueShape& out = node.out_shape;
  y.values.resize(batch * out.elements());
  choice.resize(y.values.size());
  for_planes(node, batch, threads, [&](std::int64_t plane) {
    const float* from = x.values.data() + plane * in.spatial();
    std::int64_t at = plane * out.spatial();
    for (std::int64_t row = 0; row < out.height; ++row) {
      for (std::int64_t col = 0; col < out.width; ++col, ++at) {
        std::int64_t best = row * node.stride * in.width + col * node.stride;
        for (std::int64_t i = 0; i < node.kernel; ++i) {
          for (std::int64_t j = 0; j < node.kernel; ++j) {
            const std::int64_t here = (row * node.stride + i) * in.width + col * node.stride + j;
            if (from[here] > from[best]) best = here;
          }
        }
        y.values[at] = from[best];
        choice[at] = static_cast<std::int32_t>(best);
      }
    }
  });
  y.grid = x.grid;
}

void max_pool_backward(const Node& node, std::int64_t batch, const Tensor& g,
                       const std::vector<std::int32_t>& choice, Tensor& dx, int threads) {
  const ValueShape& in = node.in_shape;
  const ValueShape& out = node.out_shape;
  dx.values.resize(batch * in.elements());
  for_planes(node, batch, threads, [&](std::int64_t plane) {
    float* to = dx.values.data() + plane * in.spatial();
    std::fill_n(to, in.spatial(), 0.0F);
    for (std::int64_t i = plane * out.spatial(); i < (plane + 1) * out.spatial(); ++i)
      to[choice[i]] = f32::add(to[choice[i]], g.values[i]);
  });
  // Windows that overlap may add up two gradients.
  dx.grid = node.stride >= node.kernel ? g.grid : std::nullopt;
}

void average_pool_forward(const Node& node, std::int64_t batch, const Tensor& x, Tensor& y, int threads) {
  const std::int64_t n = node.in_shape.spatial();
  const float reciprocal = reciprocal_of(n);
  y.values.resize(batch * node.out_shape.elements());
  for_planes(node, batch, threads, [&](std::int64_t plane) {
    float sum = 0;
    for (std::int64_t i = plane * n; i < (plane + 1) * n; ++i) sum = f32::add(sum, x.values[i]);
    y.values[plane] = f32::mul(sum, reciprocal);
  });
  y.grid.reset();
}

void average_pool_backward(const Node& node, std::int64_t batch, const Tensor& g, Tensor& dx, int threads) {
  const std::int64_t n = node.in_shape.spatial();
  const float reciprocal = reciprocal_of(n);
  dx.values.resize(batch * node.in_shape.elements());
  for_planes(node, batch, threads, [&](std::int64_t plane) {
    std::fill_n(dx.values.begin() + plane * n, n, f32::mul(g.values[plane], reciprocal));
  });
  dx.grid.reset();
}

}  // namespace mantissa::train

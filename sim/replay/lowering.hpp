// A layer's three passes as matrix products (ARITHMETIC.md 4): which element of which tensor stands where in
// A and B. Nothing is computed here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/random/stream.hpp"

namespace mantissa::replay {

// A convolution; a linear layer is one of 1 x 1 on images of 1 x 1.
struct Geometry {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  std::array<std::int64_t, 2> in{1, 1};  // height, width
  std::array<std::int64_t, 2> out{1, 1};
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};

  std::int64_t in_group() const { return in_channels / groups; }
  std::int64_t out_group() const { return out_channels / groups; }
  std::int64_t inputs() const { return batch * in_channels * in[0] * in[1]; }
  std::int64_t outputs() const { return batch * out_channels * out[0] * out[1]; }
  std::int64_t weights() const { return out_channels * in_group() * kernel[0] * kernel[1]; }
};

// C[m,n] = A[m,k] B[k,n] of one group.
struct PassSides {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};
PassSides sides_of(const Geometry& geometry, Pass pass);

// A rectangle of a lowered matrix.
struct Rectangle {
  std::int64_t row0 = 0, row1 = 0;
  std::int64_t col0 = 0, col1 = 0;
  std::int64_t rows() const { return row1 - row0; }
  std::int64_t cols() const { return col1 - col0; }
  std::int64_t elements() const { return rows() * cols(); }
};

// Parts of A and B of one group, row-major into `out`, which has the rectangle's elements. `first` and
// `second` are the tensors that A and B are made of: forward x and w, input gradient g and w, weight gradient
// g and x. Padding and the holes of strided layers are `zero`. Element is float, std::uint8_t or
// std::uint16_t.
template <class Element>
void lower_a(const Geometry& geometry, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> first, Element zero, std::span<Element> out, int threads);
template <class Element>
void lower_b(const Geometry& geometry, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> second, Element zero, std::span<Element> out, int threads);

}  // namespace mantissa::replay

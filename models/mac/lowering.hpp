// A layer's three passes as matrix products (ARITHMETIC.md 4): which element of which tensor stands where in
// A and B. Nothing is computed here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "models/mac/pass.hpp"

namespace mantissa {

// C[m,n] = A[m,k] B[k,n] of one group.
struct PassSides {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};
// Throws std::invalid_argument for the update, which multiplies nothing.
PassSides sides_of(const ConvShape& geometry, Pass pass);
// Of one group on an array: tile numbers continue over the groups of a layer.
std::int64_t tiles_of(const PassSides& sides, std::int64_t rows, std::int64_t cols);

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
void lower_a(const ConvShape& geometry, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> first, Element zero, std::span<Element> out, int threads);
template <class Element>
void lower_b(const ConvShape& geometry, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> second, Element zero, std::span<Element> out, int threads);

// The way back: outputs [group, m, n] laid out as the tensor that the pass makes, y, dx or dw.
void in_tensor_order(const ConvShape& geometry, Pass pass, std::span<const float> outputs,
                     std::span<float> tensor);

}  // namespace mantissa

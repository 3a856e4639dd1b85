// What float and integer convolutions refuse, and what both hand to a GEMM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/mac/conv_shape.hpp"

namespace mantissa::kernels {

// Throws std::invalid_argument unless the shape is one and the tensors have its sizes.
inline void check_conv_sizes(const ConvShape& shape, std::size_t x, std::size_t w, std::size_t y) {
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

// A matrix product as it stands, but for a transposition.
inline bool is_linear(const ConvShape& s) {
  constexpr std::array<std::int64_t, 2> one{1, 1};
  return s.groups == 1 && s.in == one && s.out == one && s.kernel == one && s.padding[0] == 0 &&
         s.padding[1] == 0;
}

// [rows][columns] as [columns][rows]
template <class T>
std::vector<T> transposed(std::span<const T> matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<T> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  }
  return result;
}

}  // namespace mantissa::kernels

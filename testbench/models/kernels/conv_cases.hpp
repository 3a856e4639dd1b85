// Convolutions for tests: shapes worth trying, and their three passes lowered element by element as the table
// of ARITHMETIC.md 4 says.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "models/mac/pass.hpp"

namespace mantissa::test {

using Random = std::mt19937_64;
using Sizes = std::array<std::int64_t, 2>;

// Its output has the size that follows from the rest.
ConvShape fitted(ConvShape shape);

// Strides and dilations of 1 to 3, any padding, groups, up to 33 channels; small enough for scalar oracles.
ConvShape random_shape(Random& random);

// What networks have: 3 x 3 with padding, halving or not, shortcuts of 1 x 1, LeNet's 5 x 5, linear layers.
std::vector<ConvShape> usual_shapes();

std::string text_of(const ConvShape& shape);

template <class Element>
struct ConvTensors {
  ConvShape s;
  std::vector<Element> x, w, g;
  Element x_zero = 0, g_zero = 0;  // what padding and holes are
};

// C[m,n] = A[m,k] B[k,n] of one group.
template <class Element>
struct LoweredPass {
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<Element> a, b;
};

template <class Element>
Element padded(const std::vector<Element>& tensor, const std::array<std::int64_t, 4>& size,
               const std::array<std::int64_t, 4>& index, Element zero) {
  std::int64_t place = 0;
  for (int i = 0; i < 4; ++i) {
    if (index[i] < 0 || index[i] >= size[i]) return zero;
    place = place * size[i] + index[i];
  }
  return tensor[place];
}

// Calls body(i, j) for 0 <= i < size[0], 0 <= j < size[1], j fastest.
template <class Body>
void for_places(Sizes size, const Body& body) {
  for (std::int64_t i = 0; i < size[0]; ++i) {
    for (std::int64_t j = 0; j < size[1]; ++j) body(i, j);
  }
}

// Rows (b, oh, ow), columns (c, kr, kc).
template <class Element>
std::vector<Element> windows(const ConvTensors<Element>& t, std::int64_t group) {
  const ConvShape& s = t.s;
  std::vector<Element> matrix;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for_places(s.out, [&](std::int64_t oh, std::int64_t ow) {
      for (std::int64_t c = 0; c < s.in_group(); ++c) {
        for_places(s.kernel, [&](std::int64_t kr, std::int64_t kc) {
          matrix.push_back(padded<Element>(
              t.x, {s.batch, s.in_channels, s.in[0], s.in[1]},
              {b, group * s.in_group() + c, oh * s.stride[0] + kr * s.dilation[0] - s.padding[0],
               ow * s.stride[1] + kc * s.dilation[1] - s.padding[1]},
              t.x_zero));
        });
      }
    });
  }
  return matrix;
}

// Rows (b, h, w), columns (o, kr, kc).
template <class Element>
std::vector<Element> spread(const ConvTensors<Element>& t, std::int64_t group) {
  const ConvShape& s = t.s;
  std::vector<Element> matrix;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for_places(s.in, [&](std::int64_t h, std::int64_t w) {
      for (std::int64_t o = 0; o < s.out_group(); ++o) {
        for_places(s.kernel, [&](std::int64_t kr, std::int64_t kc) {
          const std::int64_t row = h + s.padding[0] - kr * s.dilation[0];
          const std::int64_t col = w + s.padding[1] - kc * s.dilation[1];
          const bool hole = row % s.stride[0] != 0 || col % s.stride[1] != 0;
          matrix.push_back(
              hole ? t.g_zero
                   : padded<Element>(t.g, {s.batch, s.out_channels, s.out[0], s.out[1]},
                                     {b, group * s.out_group() + o, row / s.stride[0], col / s.stride[1]},
                                     t.g_zero));
        });
      }
    });
  }
  return matrix;
}

template <class Element>
LoweredPass<Element> lowered(const ConvTensors<Element>& t, Pass pass, std::int64_t group) {
  const ConvShape& s = t.s;
  const std::int64_t taps = s.kernel[0] * s.kernel[1];
  const std::int64_t places = s.out[0] * s.out[1];
  const auto weight = [&](std::int64_t o, std::int64_t c, std::int64_t tap) {
    return t.w[((group * s.out_group() + o) * s.in_group() + c) * taps + tap];
  };
  LoweredPass<Element> result;
  if (pass == Pass::forward) {
    result = {s.batch * places, s.out_group(), s.in_group() * taps, windows(t, group), {}};
    for_places({result.k, result.n},
               [&](std::int64_t k, std::int64_t o) { result.b.push_back(weight(o, k / taps, k % taps)); });
  } else if (pass == Pass::input_gradient) {
    result = {s.batch * s.in[0] * s.in[1], s.in_group(), s.out_group() * taps, spread(t, group), {}};
    for_places({result.k, result.n},
               [&](std::int64_t k, std::int64_t c) { result.b.push_back(weight(k / taps, c, k % taps)); });
  } else {
    result = {s.out_group(), s.in_group() * taps, s.batch * places, {}, windows(t, group)};
    for_places({result.m, result.k}, [&](std::int64_t o, std::int64_t k) {
      const std::int64_t plane = k / places * s.out_channels + group * s.out_group() + o;
      result.a.push_back(t.g[plane * places + k % places]);
    });
  }
  return result;
}

// Where C's (m, n) of a group stands in the pass's result.
std::int64_t place_of(const ConvShape& shape, Pass pass, std::int64_t group, std::int64_t m, std::int64_t n);

// How many elements that has.
std::int64_t results_of(const ConvShape& shape, Pass pass);

}  // namespace mantissa::test

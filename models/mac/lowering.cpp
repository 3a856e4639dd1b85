#include "models/mac/lowering.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "models/parallel/parallel.hpp"

namespace mantissa {
namespace {

// What a lowered matrix is made of: rows are places of an image, (image, row, column), columns are (channel,
// kernel row, kernel column), and an element is where the row's place meets the tap in another image.
template <class Element>
struct Planes {
  std::span<const Element> data;  // [batch, channels, size]
  std::int64_t channels;
  std::int64_t first_channel;  // of the group
  std::array<std::int64_t, 2> size;
  std::array<std::int64_t, 2> places;  // of the rows
  Element zero;
};

// One line of places under one kernel column. The forward pass, whose A is also the weight gradient's B,
// reads x at place * stride + offset. The input gradient looks the other way: g at q meets place q * stride +
// offset, and places between have nothing.
template <class Element, bool spread>
void fill_line(const Element* line, std::int64_t size, std::int64_t stride, std::int64_t offset,
               std::int64_t first, std::int64_t last, Element zero, Element* out, std::int64_t pitch) {
  const auto at_least = [&](std::int64_t x) { return x <= 0 ? -(-x / stride) : (x + stride - 1) / stride; };
  if constexpr (spread) {
    for (std::int64_t place = first; place < last; ++place) out[(place - first) * pitch] = zero;
    const std::int64_t end = std::min(size, at_least(last - offset));
    for (std::int64_t q = std::max<std::int64_t>(0, at_least(first - offset)); q < end; ++q)
      out[(q * stride + offset - first) * pitch] = line[q];
  } else {
    const std::int64_t begin = std::clamp(at_least(-offset), first, last);
    const std::int64_t end = std::clamp(at_least(size - offset), begin, last);
    for (std::int64_t place = first; place < begin; ++place) out[(place - first) * pitch] = zero;
    for (std::int64_t place = begin; place < end; ++place)
      out[(place - first) * pitch] = line[place * stride + offset];
    for (std::int64_t place = end; place < last; ++place) out[(place - first) * pitch] = zero;
  }
}

// Line of places by line, tap by tap: what a tap meets along a line lies together.
template <bool spread, class Element>
void fill(const ConvShape& g, const Planes<Element>& planes, const Rectangle& part, std::span<Element> out,
          int threads) {
  const std::int64_t taps = g.kernel[0] * g.kernel[1];
  const auto fill_places = [&](std::int64_t row, std::int64_t count, Element* to) {
    const std::int64_t first = row % planes.places[1];
    const std::int64_t place = row / planes.places[1] % planes.places[0];
    const std::int64_t image = row / (planes.places[1] * planes.places[0]);
    for (std::int64_t col = part.col0; col < part.col1; ++col, ++to) {
      const std::int64_t tap_row = col % taps / g.kernel[1] * g.dilation[0] - g.padding[0];
      const std::int64_t tap_col = col % g.kernel[1] * g.dilation[1] - g.padding[1];
      const std::int64_t meets = spread ? place - tap_row : place * g.stride[0] + tap_row;
      const std::int64_t line = spread ? meets / g.stride[0] : meets;
      if (meets < 0 || line >= planes.size[0] || (spread && meets % g.stride[0] != 0)) {
        for (std::int64_t i = 0; i < count; ++i) to[i * part.cols()] = planes.zero;
        continue;
      }
      const std::int64_t channel = image * planes.channels + planes.first_channel + col / taps;
      const Element* from = planes.data.data() + (channel * planes.size[0] + line) * planes.size[1];
      fill_line<Element, spread>(from, planes.size[1], g.stride[1], tap_col, first, first + count,
                                 planes.zero, to, part.cols());
    }
  };
  parallel_ranges(part.rows(), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t row = part.row0 + i;
      const std::int64_t count = std::min(planes.places[1] - row % planes.places[1], end - i);
      fill_places(row, count, out.data() + i * part.cols());
      i += count;
    }
  });
}

// Windows of x at the places of y.
template <class Element>
void fill_windows(const ConvShape& g, std::int64_t group, std::span<const Element> x, Element zero,
                  const Rectangle& part, std::span<Element> out, int threads) {
  fill<false>(g, Planes<Element>{x, g.in_channels, group * g.in_group(), g.in, g.out, zero}, part, out,
              threads);
}

}  // namespace

PassSides sides_of(const ConvShape& g, Pass pass) {
  const std::int64_t taps = g.kernel[0] * g.kernel[1];
  switch (pass) {
    case Pass::forward:
      return {g.batch * g.out[0] * g.out[1], g.out_group(), g.in_group() * taps};
    case Pass::input_gradient:
      return {g.batch * g.in[0] * g.in[1], g.in_group(), g.out_group() * taps};
    case Pass::weight_gradient:
      return {g.out_group(), g.in_group() * taps, g.batch * g.out[0] * g.out[1]};
    case Pass::update:
      break;
  }
  throw std::invalid_argument("pass " + std::string(name_of(pass)) + " multiplies no matrices");
}

std::int64_t tiles_of(const PassSides& sides, std::int64_t rows, std::int64_t cols) {
  return ((sides.m + rows - 1) / rows) * ((sides.n + cols - 1) / cols);
}

void in_tensor_order(const ConvShape& g, Pass pass, std::span<const float> outputs, std::span<float> tensor) {
  if (pass == Pass::weight_gradient) {  // [out channel, in channel, kernel], and so is the product
    std::copy(outputs.begin(), outputs.end(), tensor.begin());
    return;
  }
  // Rows are (image, place), columns the channels of a group.
  const auto [m, n, k] = sides_of(g, pass);
  const std::int64_t places = m / g.batch;
  for (std::int64_t group = 0; group < g.groups; ++group) {
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t col = 0; col < n; ++col) {
        const std::int64_t channel = (row / places * g.groups + group) * n + col;
        tensor[channel * places + row % places] = outputs[(group * m + row) * n + col];
      }
    }
  }
}

template <class Element>
void lower_a(const ConvShape& g, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> first, Element zero, std::span<Element> out, int threads) {
  if (pass == Pass::forward) {
    fill_windows(g, group, first, zero, part, out, threads);
  } else if (pass == Pass::input_gradient) {
    fill<true>(g, Planes<Element>{first, g.out_channels, group * g.out_group(), g.out, g.in, zero}, part, out,
               threads);
  } else {
    // Rows are output channels, columns (b, oh, ow): images side by side.
    const std::int64_t image = g.out[0] * g.out[1];
    for (std::int64_t row = part.row0; row < part.row1; ++row) {
      Element* to = out.data() + (row - part.row0) * part.cols();
      for (std::int64_t col = part.col0; col < part.col1;) {
        const std::int64_t b = col / image;
        const std::int64_t run = std::min(image - col % image, part.col1 - col);
        const std::int64_t channel = b * g.out_channels + group * g.out_group() + row;
        std::copy_n(first.begin() + channel * image + col % image, run, to);
        to += run;
        col += run;
      }
    }
  }
}

template <class Element>
void lower_b(const ConvShape& g, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> second, Element zero, std::span<Element> out, int threads) {
  if (pass == Pass::weight_gradient) {
    fill_windows(g, group, second, zero, part, out, threads);
    return;
  }
  // Weights [O, I, kh, kw]: forward row (c, kr, kc), column o; input gradient row (o, kr, kc), column c.
  const std::int64_t taps = g.kernel[0] * g.kernel[1];
  for (std::int64_t row = part.row0; row < part.row1; ++row) {
    for (std::int64_t col = part.col0; col < part.col1; ++col) {
      const std::int64_t o = pass == Pass::forward ? col : row / taps;
      const std::int64_t c = pass == Pass::forward ? row / taps : col;
      const std::int64_t from = ((group * g.out_group() + o) * g.in_group() + c) * taps + row % taps;
      out[(row - part.row0) * part.cols() + col - part.col0] = second[from];
    }
  }
}

template void lower_a(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const float>, float,
                      std::span<float>, int);
template void lower_a(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const std::uint8_t>,
                      std::uint8_t, std::span<std::uint8_t>, int);
template void lower_a(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const std::uint16_t>,
                      std::uint16_t, std::span<std::uint16_t>, int);
template void lower_b(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const float>, float,
                      std::span<float>, int);
template void lower_b(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const std::uint8_t>,
                      std::uint8_t, std::span<std::uint8_t>, int);
template void lower_b(const ConvShape&, Pass, std::int64_t, const Rectangle&, std::span<const std::uint16_t>,
                      std::uint16_t, std::span<std::uint16_t>, int);

}  // namespace mantissa

#include "models/mac/lowering.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/parallel/parallel.hpp"

namespace mantissa {
namespace {

// The forward pass's A, which is also the weight gradient's B: rows (b, oh, ow), columns (c, kr, kc).
template <class Element>
class Windows {
 public:
  Windows(const ConvShape& geometry, std::int64_t group, std::span<const Element> x, Element zero)
      : g_(geometry), group_(group), x_(x), zero_(zero) {}

  void row(std::int64_t index, std::int64_t col0, std::int64_t col1, Element* out) const {
    const std::int64_t ow = index % g_.out[1];
    const std::int64_t oh = index / g_.out[1] % g_.out[0];
    const std::int64_t b = index / (g_.out[1] * g_.out[0]);
    const std::int64_t taps = g_.kernel[0] * g_.kernel[1];
    const std::int64_t left = ow * g_.stride[1] - g_.padding[1];
    const std::int64_t top = oh * g_.stride[0] - g_.padding[0];
    std::int64_t c = col0 / taps;
    std::int64_t kr = col0 % taps / g_.kernel[1];
    std::int64_t kc = col0 % g_.kernel[1];
    for (std::int64_t col = col0; col < col1;) {
      // One row of the kernel at a time.
      const std::int64_t run = std::min(g_.kernel[1] - kc, col1 - col);
      const std::int64_t h = top + kr * g_.dilation[0];
      if (h < 0 || h >= g_.in[0]) {
        std::fill_n(out, run, zero_);
      } else {
        const std::int64_t channel = group_ * g_.in_group() + c;
        const Element* line = x_.data() + ((b * g_.in_channels + channel) * g_.in[0] + h) * g_.in[1];
        for (std::int64_t i = 0; i < run; ++i) {
          const std::int64_t w = left + (kc + i) * g_.dilation[1];
          out[i] = w < 0 || w >= g_.in[1] ? zero_ : line[w];
        }
      }
      out += run;
      col += run;
      kc = 0;
      if (++kr == g_.kernel[0]) {
        kr = 0;
        ++c;
      }
    }
  }

 private:
  const ConvShape& g_;
  std::int64_t group_;
  std::span<const Element> x_;
  Element zero_;
};

// The input gradient's A: rows (b, h, w), columns (o, kr, kc); the output that input (h, w) took part in
// through that tap, where there is one.
template <class Element>
class Spread {
 public:
  Spread(const ConvShape& geometry, std::int64_t group, std::span<const Element> gradient, Element zero)
      : g_(geometry), group_(group), gradient_(gradient), zero_(zero) {}

  void row(std::int64_t index, std::int64_t col0, std::int64_t col1, Element* out) const {
    const std::int64_t w = index % g_.in[1];
    const std::int64_t h = index / g_.in[1] % g_.in[0];
    const std::int64_t b = index / (g_.in[1] * g_.in[0]);
    const std::int64_t taps = g_.kernel[0] * g_.kernel[1];
    const std::int64_t image = g_.out[0] * g_.out[1];
    // The same places in every channel: found once.
    thread_local std::vector<std::int64_t> place;
    place.assign(taps, -1);
    for (std::int64_t kr = 0; kr < g_.kernel[0]; ++kr) {
      const std::int64_t oh = position(h, kr, 0);
      if (oh < 0) continue;
      for (std::int64_t kc = 0; kc < g_.kernel[1]; ++kc) {
        const std::int64_t ow = position(w, kc, 1);
        if (ow >= 0) place[kr * g_.kernel[1] + kc] = oh * g_.out[1] + ow;
      }
    }
    std::int64_t tap = col0 % taps;
    const Element* plane =
        gradient_.data() + (b * g_.out_channels + group_ * g_.out_group() + col0 / taps) * image;
    for (std::int64_t col = col0; col < col1; ++col, ++out) {
      *out = place[tap] < 0 ? zero_ : plane[place[tap]];
      if (++tap == taps) {
        tap = 0;
        plane += image;
      }
    }
  }

 private:
  std::int64_t position(std::int64_t at, std::int64_t tap, int axis) const {
    const std::int64_t from = at + g_.padding[axis] - tap * g_.dilation[axis];
    if (from < 0 || from % g_.stride[axis] != 0) return -1;
    const std::int64_t result = from / g_.stride[axis];
    return result < g_.out[axis] ? result : -1;
  }

  const ConvShape& g_;
  std::int64_t group_;
  std::span<const Element> gradient_;
  Element zero_;
};

template <class Element, class Source>
void fill(const Source& source, const Rectangle& part, std::span<Element> out, int threads) {
  parallel_ranges(part.rows(), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      source.row(part.row0 + i, part.col0, part.col1, out.data() + i * part.cols());
    }
  });
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
  throw std::invalid_argument("only the forward and the two backward passes of a layer are GEMMs");
}

template <class Element>
void lower_a(const ConvShape& g, Pass pass, std::int64_t group, const Rectangle& part,
             std::span<const Element> first, Element zero, std::span<Element> out, int threads) {
  if (pass == Pass::forward) {
    fill(Windows<Element>(g, group, first, zero), part, out, threads);
  } else if (pass == Pass::input_gradient) {
    fill(Spread<Element>(g, group, first, zero), part, out, threads);
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
    fill(Windows<Element>(g, group, second, zero), part, out, threads);
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

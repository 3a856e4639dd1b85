#include "models/mac/pass_phases.hpp"

#include <algorithm>
#include <numeric>

#include "models/mac/lowering.hpp"

namespace mantissa {
namespace {

// Of the places first, first + stride, ... how many lie before `end`.
std::int64_t places_before(std::int64_t end, std::int64_t first, std::int64_t stride) {
  return end <= first ? 0 : (end - first + stride - 1) / stride;
}

std::vector<std::int64_t> all_taps(std::int64_t kernel) {
  std::vector<std::int64_t> taps(static_cast<std::size_t>(kernel));
  std::iota(taps.begin(), taps.end(), 0);
  return taps;
}

// Kernel rows or columns that meet the gradient at places of this remainder.
std::vector<std::int64_t> taps_at(const ConvShape& g, int side, std::int64_t first) {
  std::vector<std::int64_t> taps;
  for (std::int64_t tap = 0; tap < g.kernel[side]; ++tap) {
    if ((first + g.padding[side] - tap * g.dilation[side]) % g.stride[side] == 0) taps.push_back(tap);
  }
  return taps;
}

PassPhase whole_pass(const ConvShape& g, Pass pass) {
  const PassSides sides = sides_of(g, pass);
  PassPhase phase;
  phase.taps = {all_taps(g.kernel[0]), all_taps(g.kernel[1])};
  // Rows of the weight gradient are channels: one line of one image.
  phase.places = pass == Pass::weight_gradient ? std::array<std::int64_t, 2>{1, sides.m}
                 : pass == Pass::forward       ? g.out
                                               : g.in;
  phase.image = phase.places;
  return phase;
}

}  // namespace

std::int64_t PassPhase::rows_before(std::int64_t m) const {
  const std::int64_t in_image = m % (image[0] * image[1]);
  const std::int64_t line = in_image / image[1];
  std::int64_t rows = m / (image[0] * image[1]) * rows_per_image();
  rows += places_before(line, first[0], stride[0]) * places[1];
  if (line % stride[0] == first[0]) rows += places_before(in_image % image[1], first[1], stride[1]);
  return rows;
}

std::vector<PassPhase> phases_of(const ConvShape& geometry, Pass pass) {
  const ConvShape& g = geometry;
  if (pass != Pass::input_gradient || (g.stride[0] == 1 && g.stride[1] == 1)) return {whole_pass(g, pass)};
  std::vector<PassPhase> phases;
  for (std::int64_t row = 0; row < g.stride[0]; ++row) {
    for (std::int64_t col = 0; col < g.stride[1]; ++col) {
      PassPhase phase;
      phase.first = {row, col};
      phase.stride = g.stride;
      phase.places = {places_before(g.in[0], row, g.stride[0]), places_before(g.in[1], col, g.stride[1])};
      phase.image = g.in;
      phase.taps = {taps_at(g, 0, row), taps_at(g, 1, col)};
      phases.push_back(std::move(phase));
    }
  }
  return phases;
}

}  // namespace mantissa

// The phases of a pass (ARITHMETIC.md 7, "Blocks"): outputs of a strided input gradient that meet the same
// taps. The other passes have one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "models/mac/pass.hpp"

namespace mantissa {

// Rows are (image, i, j) of `places`, row-major; in the whole pass row (i, j) of an image is that of output
// (first + i * stride) in both directions. Where a pass has one phase, its rows are the pass's own.
struct PassPhase {
  std::array<std::int64_t, 2> first{0, 0};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> places{1, 1};
  std::array<std::int64_t, 2> image{1, 1};          // of all phases together
  std::array<std::vector<std::int64_t>, 2> taps{};  // kernel rows and columns, ascending
  std::int64_t rows_per_image() const { return places[0] * places[1]; }
  std::int64_t taps_in_all() const { return static_cast<std::int64_t>(taps[0].size() * taps[1].size()); }
  // How many of its rows come before row m of the whole pass.
  std::int64_t rows_before(std::int64_t m) const;
};

// In the order of the law. Throws std::invalid_argument for the update.
std::vector<PassPhase> phases_of(const ConvShape& geometry, Pass pass);

}  // namespace mantissa

// A batch of values on its way through the network, [batch, channels, height, width].
#pragma once

#include <optional>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa::train {

// The numbers code * 2^-scale of a format.
struct Grid {
  Format format;
  int scale = 0;
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct Tensor {
  std::vector<float> values;
  // All values are on this grid: quantizing them onto it again would change nothing, in any rounding, and is
  // left out.
  std::optional<Grid> grid = std::nullopt;
};

}  // namespace mantissa::train

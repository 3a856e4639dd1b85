// A batch of values on its way through the network, [batch, channels, height, width].
#pragma once

#include <optional>
#include <vector>

#include "models/tensor/encode.hpp"

namespace mantissa::train {

struct Tensor {
  std::vector<float> values;
  // All values are on this grid: quantizing them onto it again would change nothing, in any rounding, and is
  // left out.
  std::optional<Grid> grid = std::nullopt;
};

// Encoded as numbers that kernels multiply: values of codes are held, not codes.
inline EncodeOptions held_as_numbers(const Tensor& source, ConversionCounts* counts) {
  return {.decoded = true, .on = source.grid, .counts = counts};
}

}  // namespace mantissa::train

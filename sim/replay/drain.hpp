// The drain quantizer over whole products: the output in row r and column c of tile t takes draw t * Rows + r
// of lane c (ARITHMETIC.md 7), whatever part of the array its tile fills.
#pragma once

#include <cstdint>
#include <span>

#include "models/quantize/quantizer.hpp"

namespace mantissa::replay {

// [groups, m, n], cut into tiles group by group.
struct DrainedProduct {
  std::int64_t groups = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  int rows = 16;  // of the array
};

// `draws.lanes` is the number of array columns. Code is std::uint8_t, std::uint16_t or std::uint32_t. Outputs
// cost work, unused places of tiles hardly any.
template <class Code>
ConversionCounts drain_quantize(std::span<const float> sums, const DrainedProduct& product,
                                const Conversion& how, const DrawSource& draws, std::span<Code> codes,
                                int threads);

}  // namespace mantissa::replay

// Integers for the arrays of integers.
#pragma once

#include <cstdint>

#include "sim/stimulus/values.hpp"

namespace mantissa::verify {

// How the integers of a tile are drawn.
class IntegerDraw {
 public:
  explicit IntegerDraw(stimulus::Dice& dice) : large(dice.below(3) == 0) {}

  // `density`: of non-zeros, in eighths.
  std::uint32_t integer(stimulus::Dice& dice, int width, std::uint64_t density) const {
    if (dice.below(8) >= density) return 0;
    const bool corner = dice.below(16) == 0;
    const std::uint32_t value = dice.bits(width);
    return corner ? (1U << width) - 1 : large ? value | 3U << (width - 2) : value;
  }

  bool large;  // near the largest
};

}  // namespace mantissa::verify

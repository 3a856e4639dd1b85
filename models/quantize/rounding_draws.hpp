// The draws that a rounding needs over a plain tensor pass, element by element (ARITHMETIC.md 3).
#pragma once

#include <cstdint>
#include <optional>

#include "models/format/rounding.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

class RoundingDraws {
 public:
  // Throws std::invalid_argument for random bits outside 1..leap. A rounding that is not stochastic draws
  // nothing, so its source is not looked at.
  RoundingDraws(Rounding rounding, const DrawSource& source);

  // The draw of the next element; 0 where nothing is drawn.
  std::uint32_t next() { return draws_ ? draws_->next() : 0; }

 private:
  std::optional<ElementDraws> draws_;
};

}  // namespace mantissa

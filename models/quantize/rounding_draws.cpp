#include "models/quantize/rounding_draws.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {

RoundingDraws::RoundingDraws(Rounding rounding, const DrawSource& source) {
  if (!rounding.stochastic()) return;
  if (rounding.random_bits < 1) {
    throw std::invalid_argument("stochastic rounding with " + std::to_string(rounding.random_bits) +
                                " random bits; it needs 1 to LEAP");
  }
  check_leap(source.leap, rounding.random_bits);
  draws_.emplace(source);
}

}  // namespace mantissa

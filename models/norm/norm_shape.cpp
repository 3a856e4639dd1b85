#include "models/norm/norm_shape.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace mantissa {
namespace {

std::string describe(const NormShape& shape) {
  return std::to_string(shape.batch) + " x " + std::to_string(shape.channels) + " x " +
         std::to_string(shape.spatial);
}

}  // namespace

void check_elements(std::string_view what, std::size_t elements, const NormShape& shape) {
  const auto [batch, channels, spatial] = shape;
  if (batch < 1 || channels < 1 || spatial < 1) {
    throw std::invalid_argument("a tensor of " + describe(shape) +
                                " (batch x channels x spatial) has no elements; each must be at least 1");
  }
  // By division, because the product of an absurd shape would overflow.
  const auto count = static_cast<std::int64_t>(elements);
  const bool fits =
      count % channels == 0 && count / channels % spatial == 0 && count / channels / spatial == batch;
  if (!fits) {
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(elements) +
                                " elements; it must have " + describe(shape) +
                                " (batch x channels x spatial)");
  }
}

void check_per_channel(std::string_view what, std::size_t elements, const NormShape& shape) {
  if (std::cmp_not_equal(elements, shape.channels)) {
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(elements) +
                                " elements; it must have one for each of " + std::to_string(shape.channels) +
                                " channels");
  }
}

}  // namespace mantissa

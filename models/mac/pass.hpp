// The passes of a training step over one layer: three matrix products (ARITHMETIC.md 4) and the update of the
// weights.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mantissa {

enum class Pass : std::uint8_t { forward = 0, input_gradient = 1, weight_gradient = 2, update = 3 };

// "forward", "input_gradient", "weight_gradient", "update".
constexpr std::string_view name_of(Pass pass) {
  constexpr std::array<std::string_view, 4> names = {"forward", "input_gradient", "weight_gradient",
                                                     "update"};
  return names.at(static_cast<std::size_t>(pass));
}

}  // namespace mantissa

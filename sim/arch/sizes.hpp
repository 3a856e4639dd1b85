// Sizes of what is cut and packed.
#pragma once

#include <cstdint>

#include "models/format/packed.hpp"

namespace mantissa {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace mantissa

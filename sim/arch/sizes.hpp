// Sizes of what is cut and packed.
#pragma once

#include <cstdint>

namespace mantissa {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Elements side by side without gaps.
constexpr std::int64_t packed_bytes(std::int64_t elements, int bits) { return ceil_div(elements * bits, 8); }

}  // namespace mantissa

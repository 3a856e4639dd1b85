// fp8_pe: one step of the accumulator inside a GEMM, fp8_mac except that a step that rounds to zero gives +0
// (ARITHMETIC.md 4).
#pragma once

#include <cstdint>

#include "models/mac/fp8_mac.hpp"

namespace mantissa {

inline std::uint32_t fp8_pe(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config) {
  const std::uint32_t code = fp8_mac(a, b, acc, config).code;
  return config.acc.is_zero(code) ? 0 : code;
}

}  // namespace mantissa

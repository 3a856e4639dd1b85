// Oracles that owe nothing to the models: values of codes by the textbook formula, operations and flags of
// the machine's own FP32 arithmetic.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mantissa::test {

inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// NaN becomes the canonical one.
inline std::uint32_t bits_of(float value) {
  return std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value);
}

inline float e5m2_value(std::uint32_t code) {
  const int field = static_cast<int>(code >> 2) & 31;
  const int mantissa = static_cast<int>(code) & 3;
  const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
  if (field == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  }
  return sign * (field == 0 ? std::ldexp(static_cast<float>(mantissa), -16)
                            : std::ldexp(static_cast<float>(4 + mantissa), field - 17));
}

inline float e4m3_value(std::uint32_t code) {
  const int field = static_cast<int>(code >> 3) & 15;
  const int mantissa = static_cast<int>(code) & 7;
  const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
  if ((code & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  return sign * (field == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                            : std::ldexp(static_cast<float>(8 + mantissa), field - 10));
}

// Result and flags (v z o u x, v highest) of an FP32 operation done by this machine.
struct MachineResult {
  std::uint32_t bits;
  std::uint32_t flags;
};

template <typename Operation>
MachineResult on_machine(Operation operation) {
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile const float result = operation();
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return {bits_of(result),
          ((raised & FE_INVALID) != 0 ? 16U : 0U) | ((raised & FE_DIVBYZERO) != 0 ? 8U : 0U) |
              ((raised & FE_OVERFLOW) != 0 ? 4U : 0U) | ((raised & FE_UNDERFLOW) != 0 ? 2U : 0U) |
              ((raised & FE_INEXACT) != 0 ? 1U : 0U)};
}

// Volatile operands keep the compiler from doing the operation itself, or elsewhere.
inline MachineResult machine_add(float a, float b) {
  volatile const float x = a;
  volatile const float y = b;
  return on_machine([&] { return x + y; });
}
inline MachineResult machine_mul(float a, float b) {
  volatile const float x = a;
  volatile const float y = b;
  return on_machine([&] { return x * y; });
}
inline MachineResult machine_div(float a, float b) {
  volatile const float x = a;
  volatile const float y = b;
  return on_machine([&] { return x / y; });
}
inline MachineResult machine_fma(float a, float b, float c) {
  volatile const float x = a;
  volatile const float y = b;
  volatile const float z = c;
  return on_machine([&] { return std::fma(float{x}, float{y}, float{z}); });
}

}  // namespace mantissa::test

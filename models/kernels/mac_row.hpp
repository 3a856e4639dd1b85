// One row of an array's elements takes one step: FP8 products are exact in FP32, so one FMA per element is
// the hardware's own rounding.
#pragma once

#include <cstdint>
#include <span>

namespace mantissa::kernels {

// acc[c] = fp8_pe's step for every column c, with an FP32 rne accumulator: acc[c] are FP32 codes, `a` and
// b[c] the values of the operands (DecodeTable). A sum that is zero becomes +0, NaN the canonical one
// (ARITHMETIC.md 4). b has as many elements as acc; every product must be exact in FP32.
void mac_row(float a, std::span<const float> b, std::span<std::uint32_t> acc);

}  // namespace mantissa::kernels

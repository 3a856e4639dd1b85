// int_gemm_output() for many outputs of one product: what does not depend on the sums is found once, and
// whole numbers below 2^53, which doubles hold exactly, become FP32 by one instruction.
#pragma once

#include <cstdint>

#include "models/mac/arithmetic.hpp"
#include "models/mac/int_gemm.hpp"

namespace mantissa::kernels {

struct IntOutput {
  float mins, b_scale_a_min, a_scale_b_min, scales;

  IntOutput(std::int64_t k, const IntMatrix& a, const IntMatrix& b)
      : mins(f32::mul(f32::mul(a.min, b.min), static_cast<float>(k))),
        b_scale_a_min(f32::mul(b.scale, a.min)),
        a_scale_b_min(f32::mul(a.scale, b.min)),
        scales(f32::mul(a.scale, b.scale)) {}

  // What one column's outputs share: sb = SB.
  float column(double sb) const { return f32::fma(b_scale_a_min, static_cast<float>(sb), mins); }

  // s = S, sa = SA
  float output(double s, double sa, float column) const {
    const float row = f32::fma(a_scale_b_min, static_cast<float>(sa), column);
    return f32::fma(scales, static_cast<float>(s), row);
  }
};

}  // namespace mantissa::kernels

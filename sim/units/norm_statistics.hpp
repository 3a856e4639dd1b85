// The ports of norm_statistics, in order, and what stands on them.
#pragma once

#include <array>
#include <cstdint>

#include "models/norm/range_bn.hpp"

namespace mantissa {

struct NormStatisticsPorts {
  enum Input {
    backward,
    column,
    first,
    last,
    chunk_first,
    chunk_last,
    part_last,
    index,
    x,
    g,
    gamma,
    mean,
    inv
  };
  enum Output { column_out, chunk, argmax, argmin, last_out, sums, nan };
};

// sums_o, lowest first.
inline std::array<float, 4> sums_on_port(const RangeBnSums& sums) {
  return {sums.x, sums.maxima, sums.minima, 0.0F};
}
inline std::array<float, 4> sums_on_port(const GradientSums& sums) {
  return {sums.g, sums.h, sums.g_xhat, sums.h_xhat};
}

}  // namespace mantissa

// How threads share the outputs of a GEMM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/parallel/parallel.hpp"

namespace mantissa::kernels {

// Rows [row0, row1) and columns [col0, col1) of C.
struct GemmShare {
  std::size_t row0 = 0, row1 = 0;
  std::size_t col0 = 0, col1 = 0;
};

// Calls body(share) for shares that cover C[m, n]. The longer side is cut, so that the operand which each
// thread packs again for itself is the smaller one.
template <class Body>
void gemm_shares(std::int64_t m, std::int64_t n, int threads, const Body& body) {
  if (m >= n) {
    parallel_ranges(m, 12, threads, [&](std::size_t row0, std::size_t row1) {
      body(GemmShare{row0, row1, 0, static_cast<std::size_t>(n)});
    });
  } else {
    parallel_ranges(n, 32, threads, [&](std::size_t col0, std::size_t col1) {
      body(GemmShare{0, static_cast<std::size_t>(m), col0, col1});
    });
  }
}

}  // namespace mantissa::kernels

// The fast GEMM: the bits of mantissa::gemm() in every accumulator option, vectorised and threaded.
#pragma once

#include <span>

#include "models/mac/gemm.hpp"

namespace mantissa::kernels {

// Same contract as mantissa::gemm(). The result does not depend on the number of threads or the SIMD target.
GemmCounts gemm(const GemmOperands& operands, const GemmOptions& options, std::span<float> c,
                int threads = 1);

}  // namespace mantissa::kernels

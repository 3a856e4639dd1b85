// Rows of `mantissa bench` for the layers of a small network: thin matrices, and convolutions beside them.
#pragma once

#include <vector>

#include "sim/bench/bench_measure.hpp"

namespace mantissa::bench {

// The largest layers of a ResNet-8 with 8, 16 and 32 channels on images of 28 x 28. Each as the matrix
// product that its forward pass is lowered to, and its three passes without lowering; the peer is sgemm on
// matrices that have been lowered already.
std::vector<BenchTask> layer_tasks(const BenchSettings& settings, const OpenBlas& blas);

}  // namespace mantissa::bench

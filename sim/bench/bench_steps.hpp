// Rows of `mantissa bench` for a whole training step: ResNet-18, four images, 85 % zeros in its gradients.
#pragma once

#include <vector>

#include "sim/bench/bench_measure.hpp"

namespace mantissa::bench {

// The closed form of all products with the best mapping of each, on one thread; and a replay with FP64
// accuracy figures on two, within 2 GiB.
std::vector<BenchTask> step_tasks(const BenchSettings& settings);

}  // namespace mantissa::bench

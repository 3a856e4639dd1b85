// Random short streams of the second machine, for the oracle and whatever is held against it.
#pragma once

#include <random>

#include "sim/arch/architecture.hpp"
#include "sim/arch/stream_cycles.hpp"

namespace mantissa::test {

struct StreamCase {
  Architecture arch;
  StreamJob job;
};

// The same case for the same state of `random`, whatever the standard library. Some streams are refused by
// the law: buffers a byte too small, no elements, no tensors.
StreamCase random_stream_case(std::mt19937_64& random);

}  // namespace mantissa::test

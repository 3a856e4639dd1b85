// The machine of the worked examples of ARITHMETIC.md 7.
#pragma once

#include "sim/arch/architecture.hpp"

namespace mantissa::test {

// 2 x 2 array, transfers of 6 cycles and 1 per 4 bytes.
inline Architecture example_machine() {
  Architecture arch;
  arch.rows = arch.cols = 2;
  arch.window = 4;
  arch.depth = arch.port = 2;
  arch.pipe_latency = 2;
  arch.a_buffer_bytes = arch.b_buffer_bytes = 64;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  return arch;
}

}  // namespace mantissa::test

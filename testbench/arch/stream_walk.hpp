// An oracle for streams of the second machine (ARITHMETIC.md 7, "Streams"): lanes, pipeline and DMA act in
// every single cycle, and a bookkeeper names each cycle by the rules. It shares no code with the closed form.
// For short streams only.
#pragma once

#include <cstdint>

#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/stream_cycles.hpp"

namespace mantissa::test {

// Elements of a segment. Throws std::invalid_argument for a job that is none, and where the law refuses it.
std::int64_t walked_segment(const Architecture& arch, const StreamJob& job);

// The same with all its cycles.
GemmCycles walk_stream(const Architecture& arch, const StreamJob& job);

}  // namespace mantissa::test

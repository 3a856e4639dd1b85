// What a pass that works element by element costs on the second machine, in closed form (ARITHMETIC.md 7,
// "Streams").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

struct StreamJob {
  std::int64_t elements = 0;
  std::vector<int> input_bits;  // of an element, tensor by tensor
  std::vector<int> output_bits;
  int lanes = 1;
  int latency = 0;
  std::uint64_t ready = 0;  // no element is taken before
};

// Elements of a segment. Throws std::invalid_argument for a job that cannot be, and where the elements of
// all lanes do not fit half a buffer.
std::int64_t stream_segment(const Architecture& arch, const StreamJob& job);

// A sweep that takes the statistics of a batch norm in front of its stream (section 8, "Fused"): the same
// inputs through the same lanes, without results.
struct SweepJob {
  std::int64_t units = 0;     // a lane each, dealt to groups of lanes
  std::int64_t elements = 0;  // of a unit
  std::uint64_t pause = 0;    // after a group's last element
};

// macs = 0; steps are segments, drained are results of one output. Of a sweep, tiles are groups, a_taken
// elements of the first input, b_staged of the second.
GemmCycles stream_cycles(const Architecture& arch, const StreamJob& job,
                         const std::optional<SweepJob>& sweep = std::nullopt);

}  // namespace mantissa

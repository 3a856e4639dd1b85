// What batch norm costs on the accelerator, in closed form: the recurrences of ARITHMETIC.md 8, "On the
// accelerator". `norm_lanes` units side by side, with a channel or some parts of one each; no element is
// visited here.
//
// Standard batch norm is no unit of its own: the same cost is its estimate.
#pragma once

#include <cstdint>

#include "sim/arch/architecture.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/stream_cycles.hpp"

namespace mantissa {

enum class NormDirection : std::uint8_t { forward, backward };

struct NormStreams {
  std::int64_t channels = 0;
  std::int64_t elements = 0;  // per channel, at least 2
  int x_bits = 8;
  int result_bits = 8;     // y or dx
  int gradient_bits = 8;   // g, backward only
  std::int64_t parts = 1;  // of the sums over a channel; they divide its elements
};

// Of a unit with one element per cycle and room for its results, as rtl/PORTS.md has them.
struct NormUnitTime {
  std::uint64_t pause = 0;    // cycles between the passes
  std::uint64_t latency = 0;  // from an element of the second pass to its result
};
constexpr NormUnitTime range_bn_forward_time{.pause = 34, .latency = 3};
constexpr NormUnitTime range_bn_backward_time{.pause = 8, .latency = 5};

// That share the parts of a channel. Throws as norm_step_length() does, but for buffers.
std::int64_t lanes_of_channel(const Architecture& arch, const NormStreams& shape);

// Elements per lane in a step. Throws std::invalid_argument for a shape that cannot be, and where not even
// one element per lane fits half a buffer.
std::int64_t norm_step_length(const Architecture& arch, const NormStreams& shape, NormDirection direction);

// macs = 0; tiles are groups of channels; a_taken are elements of x, b_staged of g, drained results. Throws
// std::invalid_argument for what does not fit.
GemmCycles norm_cycles(const Architecture& arch, const NormStreams& shape, NormDirection direction);

// With `norm_fusion: drain` ("Fused"): what is left to do once the statistics are there, as a stream.
StreamJob fused_norm_job(const Architecture& arch, const NormStreams& shape, NormDirection direction);
// The same behind a sweep that takes the statistics, where no drain has.
GemmCycles fused_norm_cycles(const Architecture& arch, const NormStreams& shape, NormDirection direction,
                             bool statistics_taken);

}  // namespace mantissa

// What a replay takes of memory and of time, from shapes alone and before it begins: a few hundred bytes may
// describe a convolution that no machine can hold.
#pragma once

#include <cstdint>
#include <span>

#include "sim/trace/trace.hpp"

namespace mantissa::replay {

struct SizeLimits {
  double memory_gib = 8;            // of the largest layer
  double tera_multiplications = 2;  // of all layers and passes
};

// Throws std::invalid_argument that names file, step and layer, what it would take and the option that raises
// the limit. Returns the bytes of the largest layer. Both are estimates from above for the engine `fast`.
double check_size(const trace::Trace& trace, std::span<const std::uint32_t> steps, const SizeLimits& limits);

}  // namespace mantissa::replay

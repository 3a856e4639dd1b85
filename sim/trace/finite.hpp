// Infinities and NaNs in a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

struct NonFinite {
  std::string tensor;
  std::uint64_t first = 0;  // index of the first one, in the order of the data
  float value = 0;          // what it is
  std::uint64_t count = 0;
};

// Those of all tensors, in the order of the file.
std::vector<NonFinite> find_nonfinite(const Safetensors& file);

// Throws std::invalid_argument that names the file, the first such tensor and the index in it.
void check_finite(const Trace& trace);

}  // namespace mantissa::trace

// Tensor elements of any type as FP32: every value of every type of a trace is one, so nothing is rounded.
#pragma once

#include <cstddef>
#include <span>

#include "models/format/format.hpp"
#include "sim/trace/safetensors.hpp"

namespace mantissa::trace {

Format format_of(DType dtype);

// `bytes` are the elements as the file has them, little-endian and aligned to nothing; there are as many
// values. NaNs of the narrow types become the canonical one.
void widen(DType dtype, std::span<const std::byte> bytes, std::span<float> values);

}  // namespace mantissa::trace

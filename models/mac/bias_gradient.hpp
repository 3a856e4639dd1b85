// The bias gradient of a layer (ARITHMETIC.md 4): per output channel, the FP32 sum of the output gradient in
// (b, oh, ow) order, from +0, each addition rounded rne.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

// Element (b, c, s) of g is at (b * channels + c) * spatial + s: NCHW with spatial = OH * OW; a linear layer
// has spatial = 1. The batch follows from the length. Throws std::invalid_argument for a length that is not
// whole batches.
std::vector<float> bias_gradient(std::span<const float> g, std::int64_t channels, std::int64_t spatial);

}  // namespace mantissa

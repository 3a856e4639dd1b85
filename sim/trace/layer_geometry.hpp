// The sizes of a recorded layer, and the multiply-accumulates of its passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/mac/conv_shape.hpp"
#include "models/mac/pass.hpp"
#include "models/norm/norm_shape.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::trace {

// The sizes of a conv2d or linear layer; none where its input or weight is not recorded.
std::optional<ConvShape> geometry_of(const Trace& trace, std::uint32_t step, const Layer& layer);

// The same from the shapes of input and weight.
ConvShape geometry_of(const Layer& layer, const std::vector<std::int64_t>& input,
                      const std::vector<std::int64_t>& weight);

// Of a batch norm; none for other layers and where its input is not recorded.
std::optional<NormShape> norm_shape_of(const Trace& trace, std::uint32_t step, const Layer& layer);

// Padding included, holes of strided input gradients not (ARITHMETIC.md 7, "Blocks"). A real number: a file's
// sizes may multiply to more than 64 bits.
double macs_of(const ConvShape& geometry, Pass pass);

// Of the passes that a replay runs, in all steps: without an output gradient there is none but the forward
// one.
double macs_of(const Trace& trace, Pass pass);

}  // namespace mantissa::trace

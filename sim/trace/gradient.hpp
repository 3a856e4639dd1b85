// A gradient as a distribution (Chmiel et al. 2021): what `trace info` and the replay's report say of it.
#pragma once

#include <cstddef>
#include <span>

#include "models/sparsity/format_chooser.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::trace {

// A Kolmogorov-Smirnov distance is taken over at most so many elements, evenly spaced: enough to tell
// distances that differ by 0.01, and a tensor of any size costs the same.
inline constexpr std::size_t most_ks_elements = std::size_t{1} << 16;

// All but step, layer and tau, which the caller knows. Elements that are not finite are left out.
GradientReport describe_gradient(std::span<const float> gradient);

// The 8-bit format with the least expected error, and the exponent that centres the gradient in it.
struct Fp8Advice {
  FormatChoice choice;
  int scale = 0;
};
Fp8Advice best_fp8(const GradientReport& gradient);

}  // namespace mantissa::trace

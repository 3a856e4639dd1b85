// A gradient as a distribution (Chmiel et al. 2021): what `trace info` and the replay's report say of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/sparsity/format_chooser.hpp"

namespace mantissa {

// Neural gradients as a distribution (Chmiel et al. 2021).
struct GradientReport {
  std::uint32_t step = 0;
  std::string layer;
  std::uint64_t elements = 0;
  double zero_share = 0;
  double mu = 0;     // of ln|g|
  double sigma = 0;  // of ln|g|
  double ks_lognormal = 0;
  double ks_normal = 0;
  double ks_laplace = 0;
  double tau = 0;  // threshold of the pruner; 0: not pruned
  // Share of the non-zero elements per bin of log2|g|.
  double histogram_first = 0;  // left edge
  double histogram_width = 0;
  std::vector<double> histogram;
};

}  // namespace mantissa

namespace mantissa::trace {

// A Kolmogorov-Smirnov distance is taken over at most this many elements, evenly spaced: enough to tell
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

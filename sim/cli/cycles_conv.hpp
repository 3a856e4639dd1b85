// `mantissa cycles --conv`: the three passes of one convolution on an architecture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cli/settings.hpp"
#include "sim/support/json.hpp"

namespace mantissa::cli {

struct ConvOptions {
  std::vector<std::int64_t> sizes;  // N, C, H, W, O, k, s, p
  std::int64_t groups = 1;
  std::string arch = "edge";
  Settings settings;
  double sparsity = 0;  // of the gradient
  std::uint64_t seed = 1;
  bool skip = true;
};

// One object per pass. Throws std::invalid_argument for sizes that are no convolution.
OrderedJson conv_json(ConvOptions& options);
std::string conv_table(const OrderedJson& json);

}  // namespace mantissa::cli

// The golden model's intermediate values of the multiply-add datapath in words, for a mismatch.
#pragma once

#include <string>
#include <vector>

#include "models/mac/fp8_mac.hpp"

namespace mantissa::verify {

// One line for each stage, product first; `with_product` off: an adder, which has none.
std::vector<std::string> datapath_view(const MacState& state, const MacConfig& config,
                                       bool with_product = true);

}  // namespace mantissa::verify

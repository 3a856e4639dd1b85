// Bins of the multiply-add datapath and of adders: exponent difference, carry, cancellation, rounding.
#pragma once

#include <string>
#include <vector>

#include "models/mac/fp8_mac.hpp"
#include "sim/verify/operand_bins.hpp"

namespace mantissa::verify {

class DatapathBins {
 public:
  // `addend` and `product` are the user's names of the two things that are added.
  DatapathBins(FunctionalCoverage& coverage, const MacConfig& config,
               const std::string& addend = "accumulator", const std::string& product = "product");
  void sample(const MacState& state, std::uint32_t draw);

 private:
  FunctionalCoverage& coverage_;
  MacConfig config_;
  RoundingBins rounding_;
  std::vector<int> difference_;
  int add_ = 0;
  int subtract_ = 0;
  int carry_ = 0;
  int cancel_ = 0;
  int zero_ = 0;
  int subnormal_ = 0;
};

}  // namespace mantissa::verify

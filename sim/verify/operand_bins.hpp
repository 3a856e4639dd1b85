// Bins that many units share: sign and class of an operand, the five flags, how a result was rounded.
#pragma once

#include <array>
#include <string>

#include "models/format/round.hpp"
#include "sim/verify/functional_coverage.hpp"

namespace mantissa::verify {

// Sign x class (zero, subnormal, normal, inf, nan) of a code, as far as the format has them.
class OperandBins {
 public:
  OperandBins(FunctionalCoverage& coverage, const std::string& name, const Format& format);
  void sample(std::uint32_t code);

 private:
  FunctionalCoverage& coverage_;
  Format format_;
  std::array<std::array<int, 5>, 2> bins_{};
};

// Each flag, and none at all. `possible` has the flags that the unit can raise.
class FlagBins {
 public:
  FlagBins(FunctionalCoverage& coverage, const Flags& possible);
  void sample(std::uint32_t flag_bits);

 private:
  FunctionalCoverage& coverage_;
  std::array<int, 6> bins_{};
};

// Where an exact value lies between its two neighbours in the format, and whether a carry left the mantissa.
class RoundingBins {
 public:
  RoundingBins(FunctionalCoverage& coverage, const Format& format, Rounding rounding);
  // Finite values only. To the format's spacing, or to a multiple of 2^quantum.
  void sample(const Exact& value, std::uint32_t draw);
  void sample(const Exact& value, int quantum, std::uint32_t draw);

 private:
  FunctionalCoverage& coverage_;
  Format format_;
  Rounding rounding_;
  std::array<int, 5> bins_{};
  int carry_ = -1;
};

}  // namespace mantissa::verify

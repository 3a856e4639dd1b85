// Operand codes for the arrays of codes.
#pragma once

#include <cstdint>
#include <string>

#include "models/format/format.hpp"
#include "sim/stimulus/values.hpp"
#include "sim/verify/functional_coverage.hpp"

namespace mantissa::verify {

// How the codes of a tile are drawn.
class CodeDraw {
 public:
  explicit CodeDraw(stimulus::Dice& dice) : specials(dice.below(4) == 0), narrow_(dice.below(2) == 0) {}

  // `density`: of non-zeros, in eighths.
  std::uint32_t code(stimulus::Dice& dice, const Format& format, std::uint64_t density) const;

  bool specials;  // Inf and NaN too

 private:
  bool narrow_;  // exponents near each other
};

// Of the bins of OperandBins with this name: those that no sum inside a GEMM can reach.
void exclude_sums(FunctionalCoverage& coverage, const std::string& name, const Format& a, const Format& b,
                  const Format& accumulator);

}  // namespace mantissa::verify

#include "sim/verify/operand_bins.hpp"

#include <algorithm>

namespace mantissa::verify {

OperandBins::OperandBins(FunctionalCoverage& coverage, const std::string& name, const Format& format)
    : coverage_(coverage), format_(format) {
  const std::array<const char*, 5> classes = {"zero", "subnormal", "normal", "inf", "nan"};
  for (int sign = 0; sign < 2; ++sign) {
    for (int i = 0; i < 5; ++i) {
      const bool exists = (i != 0 || sign == 0 || format.has_negative_zero()) &&
                          (i != 1 || format.mantissa_bits > 0) && (i != 3 || format.has_inf()) &&
                          (i != 4 || (format.has_nan() && (sign == 1 || format.specials != Specials::fnuz)));
      bins_[sign][i] = exists ? coverage.declare(name + (sign == 1 ? " -" : " +") + classes[i]) : -1;
    }
  }
}

void OperandBins::sample(std::uint32_t code) {
  const int sign = format_.is_negative(code) ? 1 : 0;
  int kind = 2;
  if (format_.is_nan(code)) {
    kind = 4;
  } else if (format_.is_inf(code)) {
    kind = 3;
  } else if (format_.is_zero(code)) {
    kind = 0;
  } else if ((code & format_.magnitude_mask()) >> format_.mantissa_bits == 0) {
    kind = 1;
  }
  coverage_.hit(bins_[sign][kind]);
}

FlagBins::FlagBins(FunctionalCoverage& coverage, const Flags& possible) : coverage_(coverage) {
  const std::array<const char*, 6> names = {"inexact",        "underflow", "overflow",
                                            "divide by zero", "invalid",   "none"};
  for (int i = 0; i < 6; ++i) {
    const bool can = i == 5 || ((possible.bits() >> i) & 1) != 0;
    bins_[i] = can ? coverage.declare(std::string("flag ") + names[i]) : -1;
  }
}

void FlagBins::sample(std::uint32_t flag_bits) {
  if (flag_bits == 0) coverage_.hit(bins_[5]);
  for (int i = 0; i < 5; ++i) {
    if (((flag_bits >> i) & 1) != 0 && bins_[i] >= 0) coverage_.hit(bins_[i]);
  }
}

RoundingBins::RoundingBins(FunctionalCoverage& coverage, const Format& format, Rounding rounding)
    : coverage_(coverage), format_(format), rounding_(rounding) {
  bins_.fill(-1);
  bins_[0] = coverage.declare("rounding exact");
  if (rounding.nearest()) {
    bins_[1] = coverage.declare("rounding below half");
    bins_[2] = coverage.declare("rounding tie, even below");
    bins_[3] = coverage.declare("rounding tie, even above");
    bins_[4] = coverage.declare("rounding above half");
  } else {
    bins_[1] = coverage.declare("rounding down");
    if (rounding.stochastic()) bins_[4] = coverage.declare("rounding up");
  }
  if (nearest_or_stochastic(traits_of(rounding.mode)))
    carry_ = coverage.declare("rounding carries into the exponent");
}

void RoundingBins::sample(const Exact& value, std::uint32_t draw) {
  const int exponent = std::max(value.exponent, format_.min_exponent());
  sample(value, exponent - format_.mantissa_bits, draw);
}

void RoundingBins::sample(const Exact& value, int quantum, std::uint32_t draw) {
  const Multiple down = round_to_multiple(value, quantum, Rounding::rtz(), 0);
  const Multiple taken = round_to_multiple(value, quantum, rounding_, draw);
  const bool up = taken.count != down.count;
  if (!down.inexact) {
    coverage_.hit(bins_[0]);
  } else if (rounding_.nearest()) {
    // In halves of the spacing: an odd count is at or above the middle, and exact only on it.
    const Multiple halves = round_to_multiple(value, quantum - 1, Rounding::rtz(), 0);
    const bool upper = (halves.count & 1) != 0;
    const bool tie = upper && !halves.inexact;
    const bool even_above = (down.count & 1) != 0;
    coverage_.hit(bins_[tie ? (even_above ? 3 : 2) : (upper ? 4 : 1)]);
  } else {
    coverage_.hit(bins_[up ? 4 : 1]);
  }
  if (carry_ >= 0) coverage_.hit_if(up && (taken.count & (taken.count - 1)) == 0, carry_);
}

}  // namespace mantissa::verify

#include "sim/verify/units/code_draw.hpp"

#include "sim/stimulus/vector_unit.hpp"

namespace mantissa::verify {

std::uint32_t CodeDraw::code(stimulus::Dice& dice, const Format& format, std::uint64_t density) const {
  if (dice.below(8) >= density)
    return format.has_negative_zero() && dice.bits(1) != 0 ? format.sign_bit() : 0;
  // Half of the tiles have operands that meet in the adder, and few tiles have Inf and NaN.
  std::uint32_t code =
      narrow_ ? stimulus::random_code_near(dice, format, 0, 3) : stimulus::random_code(dice, format);
  if (specials ? dice.below(4) != 0 : true) {
    while (format.is_nan(code) || format.is_inf(code)) code = stimulus::random_code(dice, format);
  }
  return code;
}

void exclude_sums(FunctionalCoverage& coverage, const std::string& name, const Format& a, const Format& b,
                  const Format& accumulator) {
  coverage.exclude(name + " -zero", "inside a GEMM every zero is +0");
  coverage.exclude(name + " -nan", "NaN is canonical");
  const bool product_inf = a.has_inf() || b.has_inf();
  const int largest = a.max_exponent() + b.max_exponent() + 1;
  if (!product_inf && largest + 24 < accumulator.max_exponent()) {
    coverage.exclude(name + " +inf", "no product is infinite or near the largest number");
    coverage.exclude(name + " -inf", "no product is infinite or near the largest number");
  }
  const int smallest = a.min_quantum() + b.min_quantum();
  if (smallest > accumulator.min_exponent()) {
    const std::string reason = "no product is below 2^" + std::to_string(smallest);
    coverage.exclude(name + " +subnormal", reason);
    coverage.exclude(name + " -subnormal", reason);
  }
}

}  // namespace mantissa::verify

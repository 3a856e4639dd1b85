// fp32_div: bins are the two normalisations of a quotient and the rounding.

#include "models/format/round.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class Fp32DivReference : public VectorReference {
 public:
  explicit Fp32DivReference(const UnitParameters& /*parameters*/)
      : VectorReference(
            stimulus::find_vector_unit("fp32_div").build({}), {0, 1}, {0, 1},
            {.invalid = true, .divide_by_zero = true, .overflow = true, .underflow = true, .inexact = true}) {
    coverage_.exclude("quotient -nan", "the canonical NaN is positive");
  }

  // Only a subnormal quotient can be a tie: some divisors are the powers of two that lead there.
  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    Transaction inputs = VectorReference::stimulus(index, dice);
    if (unit().corner_in_turn(index) || dice.below(8) != 0) return inputs;
    const Exact dividend = decode(static_cast<std::uint32_t>(inputs[0].value()), formats::fp32);
    const int wanted = dice.between(formats::fp32.min_quantum(), formats::fp32.min_exponent());
    const std::uint32_t near = stimulus::random_code_near(dice, formats::fp32, dividend.exponent - wanted, 0);
    inputs[1] = Bits(32, near & ~formats::fp32.mantissa_mask());
    return inputs;
  }

  void accept(const Transaction& inputs) override {
    VectorReference::accept(inputs);
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    quotient_.sample(unit().golden(fields)[0]);
    const Exact x = decode(fields[0], formats::fp32);
    const Exact y = decode(fields[1], formats::fp32);
    Flags ignored;
    const Exact quotient = divide(x, y, ignored);
    if (!quotient.is_finite()) return;
    rounding_.sample(quotient, 0);
    coverage_.hit(quotient.exponent == x.exponent - y.exponent ? at_least_one_ : below_one_);
  }

 private:
  OperandBins quotient_{coverage_, "quotient", formats::fp32};
  RoundingBins rounding_{coverage_, formats::fp32, Rounding::rne()};
  int at_least_one_ = coverage_.declare("significands' quotient 1 or more");
  int below_one_ = coverage_.declare("significands' quotient below 1");
};

}  // namespace

UnitKind fp32_div_kind() {
  return {
      .name = "fp32_div",
      .module = "fp32_div",
      .what = "a / b in FP32, one rounding; sequential, one operation at a time",
      .section = "2",
      .latency = "27",
      .parameters = {},
      .ports = {{"a_i", "32", "dividend"},
                {"b_i", "32", "divisor"},
                {"z_o", "32", "a_i / b_i"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"}},
      .configurations = {{"radix 2", {}}},
      .systemc = make_fp32_div,
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp32DivReference>(p); },
      .optional_outputs = {"flags_o"},
  };
}

}  // namespace mantissa::verify

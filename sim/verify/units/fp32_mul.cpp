// fp32_mul: bins are the rounding and the border between subnormal and normal products.

#include "models/format/round.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class Fp32MulReference : public VectorReference {
 public:
  explicit Fp32MulReference(const UnitParameters& /*parameters*/)
      : VectorReference(stimulus::find_vector_unit("fp32_mul").build({}), {0, 1}, {0, 1}) {
    coverage_.exclude("product -nan", "the canonical NaN is positive");
  }

  void accept(const Transaction& inputs) override {
    VectorReference::accept(inputs);
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const std::vector<std::uint32_t> results = unit().golden(fields);
    product_.sample(results[0]);
    const Exact x = decode(fields[0], formats::fp32);
    const Exact y = decode(fields[1], formats::fp32);
    Flags ignored;
    const Exact product = multiply(x, y, ignored);
    if (!product.is_finite()) return;
    rounding_.sample(product, 0);
    coverage_.hit(product.exponent == x.exponent + y.exponent ? no_carry_ : carry_);
    const bool from_below = product.exponent < formats::fp32.min_exponent() &&
                            decode(results[0], formats::fp32).exponent == formats::fp32.min_exponent();
    const bool underflow = (results[1] & Flags{.underflow = true}.bits()) != 0;
    coverage_.hit_if(from_below, underflow ? tiny_ : not_tiny_);
  }

 private:
  OperandBins product_{coverage_, "product", formats::fp32};
  RoundingBins rounding_{coverage_, formats::fp32, Rounding::rne()};
  int carry_ = coverage_.declare("significands' product 2 or more");
  int no_carry_ = coverage_.declare("significands' product below 2");
  int tiny_ = coverage_.declare("rounds up to the smallest normal, tiny");
  int not_tiny_ = coverage_.declare("rounds up to the smallest normal, not tiny");
};

}  // namespace

UnitKind fp32_mul_kind() {
  return {
      .name = "fp32_mul",
      .module = "fp32_mul",
      .what = "a * b in FP32, one rounding",
      .section = "2",
      .latency = "PipeStages",
      .parameters = {{"PipeStages", 0, "0 to 2 registers: after the multiplication, after decode"}},
      .ports = {{"a_i", "32", "factor"},
                {"b_i", "32", "factor"},
                {"z_o", "32", "a_i * b_i"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"}},
      .configurations = {{"combinational", {}},
                         {"1 stage", {{"PipeStages", 1}}},
                         {"2 stages", {{"PipeStages", 2}}}},
      .systemc = make_fp32_mul,
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp32MulReference>(p); },
      .optional_outputs = {"flags_o"},
  };
}

}  // namespace mantissa::verify

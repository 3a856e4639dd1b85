// fp8_mul: all pairs of operands can be run; bins are the classes of operands and product.

#include "models/mac/fp8_mul.hpp"

#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

stimulus::VectorUnit mul_vectors(const UnitParameters& parameters) {
  return stimulus::find_vector_unit("fp8_mul").build(
      {{"a", parameters.format("A").name()}, {"b", parameters.format("B").name()}});
}

bool has_signalling(const Format& format) {
  for (std::uint32_t code = 0; code <= format.code_mask(); ++code) {
    if (format.is_nan(code) && format.is_signalling(code)) return true;
  }
  return false;
}

// Only 0 * Inf and signalling NaN raise a flag.
Flags possible_flags(const UnitParameters& parameters) {
  const Format a = parameters.format("A");
  const Format b = parameters.format("B");
  return {.invalid = a.has_inf() || b.has_inf() || has_signalling(a) || has_signalling(b)};
}

class Fp8MulReference : public VectorReference {
 public:
  explicit Fp8MulReference(const UnitParameters& parameters)
      : VectorReference(mul_vectors(parameters), {0, 1}, {0, 1}, possible_flags(parameters)),
        a_(parameters.format("A")),
        b_(parameters.format("B")) {
    if (!a_.has_inf() && !b_.has_inf()) {
      for (const char* bin : {"product +inf", "product -inf"}) coverage_.exclude(bin, "no operand has Inf");
    }
    if (a_.min_quantum() + b_.min_quantum() >= formats::fp32.min_exponent()) {
      for (const char* bin : {"product +subnormal", "product -subnormal"}) {
        coverage_.exclude(bin, "every product is normal in FP32");
      }
    }
    if (!a_.has_nan() && !b_.has_nan()) coverage_.exclude("product +nan", "no operand has NaN");
    coverage_.exclude("product -nan", "the canonical NaN is positive");
    if (a_.mantissa_bits == 0 && b_.mantissa_bits == 0) {
      coverage_.exclude("significands' product 2", "both significands are 1");
    }
  }

  void accept(const Transaction& inputs) override {
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const Rounded result = fp8_mul(fields[0], a_, fields[1], b_);
    sample_operands(fields, {result.code, result.flags.bits()});
    product_.sample(result.code);
    const Exact x = decode(fields[0], a_);
    const Exact y = decode(fields[1], b_);
    if (x.is_finite() && y.is_finite()) {
      const int exponent = decode(result.code, formats::fp32).exponent;
      coverage_.hit(exponent == x.exponent + y.exponent ? no_carry_ : carry_);
    }
    expect({Bits(32, result.code), Bits(1, result.flags.invalid ? 1 : 0)}, inputs);
  }

 private:
  Format a_;
  Format b_;
  OperandBins product_{coverage_, "product", formats::fp32};
  int carry_ = coverage_.declare("significands' product 2 or more");
  int no_carry_ = coverage_.declare("significands' product below 2");
};

}  // namespace

UnitKind fp8_mul_kind() {
  using namespace formats;
  return {
      .name = "fp8_mul",
      .module = "fp8_mul",
      .what = "exact product of two codes of up to 8 bits, as FP32",
      .section = "4",
      .latency = "PipeStages",
      .parameters = joined({format_notes("A", "a", true),
                            format_notes("B", "b"),
                            {{"PipeStages", 0, "0 or 1 register, after the multiplication"}}}),
      .ports = {{"a_i", "1+AExp+AMan", "factor"},
                {"b_i", "1+BExp+BMan", "factor"},
                {"p_o", "32", "product, FP32"},
                {"invalid_o", "1", "0 * Inf or a signalling NaN; no other flag can rise"}},
      .configurations = {{"e5m2", operand_formats(e5m2, e5m2)},
                         {"e4m3, 1 stage", operand_formats(e4m3, e4m3).with({{"PipeStages", 1}})},
                         {"e5m2 e4m3:fnuz", operand_formats(e5m2, Format::parse("e4m3:fnuz"))},
                         {"subnormal products, 1 stage",
                          operand_formats(Format::parse("e5m2:bias=70"), Format::parse("e5m2:bias=77"))
                              .with({{"PipeStages", 1}})}},
      .systemc = make_fp8_mul,
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp8MulReference>(p); },
      .optional_outputs = {"invalid_o"},
  };
}

}  // namespace mantissa::verify

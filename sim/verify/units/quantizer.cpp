// quantizer: values around the target's range at every scale; bins are where a value falls and how it rounds.

#include <tuple>

#include "sim/units/unit_configs.hpp"
#include "sim/verify/units/rounding_parameter.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

stimulus::VectorUnit quantizer_vectors(const Conversion& how) {
  return stimulus::find_vector_unit("quantizer")
      .build({{"to", how.to.name()},
              {"round", how.rounding.name()},
              {"overflow", how.overflow == Overflow::saturate ? "saturate" : "ieee"}});
}

class QuantizerReference : public VectorReference {
 public:
  explicit QuantizerReference(const UnitParameters& parameters)
      : VectorReference(quantizer_vectors(quantizer_conversion(parameters)),
                        {0, 1, quantizer_conversion(parameters).rounding.stochastic() ? 2 : -1}, {0, 1}),
        how_(quantizer_conversion(parameters)) {
    if (how_.to.mantissa_bits == 0)
      coverage_.exclude("result subnormal", "the format has no subnormal numbers");
    if (!nearest_or_stochastic(traits_of(how_.rounding.mode)))
      coverage_.exclude("subnormal value rounds", "rounding toward zero never goes up");
  }

  void accept(const Transaction& inputs) override {
    VectorReference::accept(inputs);
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const int scale = stimulus::signed_byte(fields[1]);
    coverage_.hit(scale < 0 ? down_ : scale == 0 ? unscaled_ : up_);
    const Exact value = decode(fields[0], formats::fp32).scaled(scale);
    if (!value.is_finite()) return;
    const std::uint32_t draw = how_.rounding.stochastic() ? fields[2] : 0;
    rounding_.sample(value, draw);
    const Rounded result = round(value, how_.to, how_.rounding, draw, how_.overflow);
    const std::uint32_t magnitude = result.code & how_.to.magnitude_mask();
    const std::uint32_t smallest_normal = 1U << how_.to.mantissa_bits;
    coverage_.hit_if(value.exponent < how_.to.min_quantum() - 1, below_);
    coverage_.hit_if(magnitude != 0 && magnitude < smallest_normal, subnormal_);
    coverage_.hit_if(value.exponent < how_.to.min_exponent() && magnitude == smallest_normal, to_normal_);
    coverage_.hit_if(magnitude == how_.to.max_code() && result.flags.inexact && !result.flags.overflow &&
                         exceeds_max(value),
                     to_max_);
  }

 private:
  bool exceeds_max(const Exact& value) const {
    const Exact max = decode(how_.to.max_code(), how_.to);
    return std::tie(value.exponent, value.significand) > std::tie(max.exponent, max.significand);
  }

  Conversion how_;
  RoundingBins rounding_{coverage_, how_.to, how_.rounding};
  int down_ = coverage_.declare("scale negative");
  int unscaled_ = coverage_.declare("scale 0");
  int up_ = coverage_.declare("scale positive");
  int below_ = coverage_.declare("value below half the smallest number");
  int subnormal_ = coverage_.declare("result subnormal");
  int to_normal_ = coverage_.declare("subnormal value rounds to the smallest normal number");
  int to_max_ = coverage_.declare("value above the largest number rounds back to it");
};

UnitParameters target(const Format& to, Rounding rounding = Rounding::rne()) {
  UnitParameters parameters{{"Exp", 0}, {"Man", 0}, {"Bias", 0}, {"Specials", 0}, {"RndBits", 0}};
  parameters.set_format("", to);
  parameters.set_rounding("Round", rounding);
  return parameters;
}

}  // namespace

UnitKind quantizer_kind() {
  using namespace formats;
  return {
      .name = "quantizer",
      .module = "quantizer",
      .what = "x * 2^scale from FP32 to any format, one rounding",
      .section = "5",
      .latency = "PipeStages",
      .parameters = {{"Exp", 5, "exponent bits of the code"},
                     {"Man", 2, "mantissa bits of the code"},
                     {"Bias", 15, "exponent bias of the code"},
                     {"Specials", 0, "special codes: 0 ieee, 1 fn, 2 finite, 3 fnuz"},
                     {"Round", 0, rounding_numbers()},
                     {"RndBits", 0, "random bits of sr; 0 otherwise"},
                     {"Saturate", 0, "1: overflow gives the largest finite number"},
                     {"PipeStages", 0, "0 or 1 register: between scaling and rounding"}},
      .ports = {{"x_i", "32", "FP32 value"},
                {"scale_i", "8", "signed: x_i is multiplied by 2^scale_i"},
                {"rnd_i", "max(1,RndBits)", "random bits of sr"},
                {"code_o", "1+Exp+Man", "the rounded code"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"}},
      .configurations =
          with_ties({{"e5m2", target(e5m2)},
                     {"e4m3 saturate, 1 stage", target(e4m3).with({{"Saturate", 1}, {"PipeStages", 1}})},
                     {"e2m1 rtz", target(e2m1, Rounding::rtz())},
                     {"e4m3:fnuz sr:8, 1 stage",
                      target(Format::parse("e4m3:fnuz"), Rounding::sr(8)).with({{"PipeStages", 1}})},
                     {"fp16 sr:13", target(fp16, Rounding::sr(13))}},
                    {"e4m3", target(e4m3)}, "Round"),
      .systemc = make_quantizer,
      .reference = [](const UnitParameters& p) { return std::make_unique<QuantizerReference>(p); },
      .optional_outputs = {"flags_o"},
  };
}

}  // namespace mantissa::verify

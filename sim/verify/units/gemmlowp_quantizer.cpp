// gemmlowp_quantizer: values in and around the range, ties among them, and registers of every kind.

#include "models/format/convert.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "sim/verify/units/rounding_parameter.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

constexpr Format fp32 = formats::fp32;

stimulus::VectorUnit gemmlowp_vectors(int bits, Rounding rounding) {
  return stimulus::find_vector_unit("gemmlowp_quantizer")
      .build({{"bits", std::to_string(bits)}, {"round", rounding.name()}});
}

class GemmlowpReference : public VectorReference {
 public:
  explicit GemmlowpReference(const UnitParameters& parameters)
      : VectorReference(gemmlowp_vectors(parameters.at("Bits"), parameters.rounding("Round")),
                        {0, 1, 2, parameters.rounding("Round").stochastic() ? 3 : -1}, {0, 1}),
        bits_(parameters.at("Bits")),
        rounding_(parameters.rounding("Round")),
        rounding_bins_(coverage_, fp32, rounding_) {}

  // The controller writes no NaN or negative inverse; the formulas hold for them all the same.
  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    Transaction inputs = VectorReference::stimulus(index, dice);
    for (const int port : {1, 2}) {
      if (dice.below(64) == 0) inputs[port] = Bits(32, stimulus::random_code(dice, fp32));
    }
    // The subtraction overflows.
    if (dice.below(256) == 0) {
      inputs[0] = Bits(32, fp32.max_code());
      inputs[1] = Bits(32, fp32.max_code() | fp32.sign_bit());
    }
    return inputs;
  }

  void accept(const Transaction& inputs) override {
    VectorReference::accept(inputs);
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const GemmlowpRange range{.bits = bits_, .min = fp32_value(fields[1]), .inv = fp32_value(fields[2])};
    const Exact steps =
        decode(fp32_bits(gemmlowp_steps(gemmlowp_offset(fp32_value(fields[0]), range), range)), fp32);
    const bool inside = steps.is_finite() && !steps.negative && steps.exponent < bits_;
    coverage_.hit_if(steps.is_nan(), invalid_);
    coverage_.hit_if(steps.is_inf() && !steps.negative, infinite_);
    coverage_.hit_if(steps.is_finite() && steps.negative, negative_);
    coverage_.hit_if(steps.is_finite() && !steps.negative && !inside, clamped_);
    if (!inside) return;
    const std::uint32_t draw = rounding_.stochastic() ? fields[3] : 0;
    const std::uint64_t below = round_to_multiple(steps, 0, Rounding::rtz(), 0).count;
    const std::uint64_t taken = round_to_multiple(steps, 0, rounding_, draw).count;
    coverage_.hit(inside_);
    coverage_.hit_if(taken != below && taken == range.top(), up_to_top_);
    coverage_.hit_if(taken > range.top(), above_top_);
    rounding_bins_.sample(steps, 0, draw);
  }

 private:
  int bits_;
  Rounding rounding_;
  int invalid_ = coverage_.declare("steps NaN");
  int negative_ = coverage_.declare("steps negative: 0");
  int inside_ = coverage_.declare("steps inside the range");
  int clamped_ = coverage_.declare("steps above the range: the top");
  int infinite_ = coverage_.declare("steps +Inf: the top");
  int up_to_top_ = coverage_.declare("rounds up to the top");
  int above_top_ = coverage_.declare("would round up above the top");
  RoundingBins rounding_bins_;
};

UnitParameters integers(int bits, Rounding rounding, int stages) {
  UnitParameters parameters{{"Bits", bits}, {"RndBits", 0}, {"PipeStages", stages}};
  parameters.set_rounding("Round", rounding);
  return parameters;
}

}  // namespace

UnitKind gemmlowp_quantizer_kind() {
  return {
      .name = "gemmlowp_quantizer",
      .module = "gemmlowp_quantizer",
      .what = "FP32 to an unsigned integer of 8 or 16 bits between two bounds",
      .section = "5",
      .latency = "PipeStages",
      .parameters = {{"Bits", 8, "of the integer: 8 or 16"},
                     {"Round", 0, rounding_numbers(nearest_or_stochastic)},
                     {"RndBits", 0, "random bits of sr; 0 otherwise"},
                     {"PipeStages", 0, "0 to 2 registers: after the product, after the subtraction"}},
      .ports = {{"x_i", "32", "FP32 value"},
                {"min_i", "32", "register: value of integer 0, FP32"},
                {"inv_i", "32", "register: fp32(1 / scale)"},
                {"rnd_i", "max(1,RndBits)", "random bits of sr"},
                {"q_o", "Bits", "the integer"},
                {"invalid_o", "1", "the value is NaN; q_o is 0"}},
      .configurations = with_ties({{"8 bits", integers(8, Rounding::rne(), 0)},
                                   {"8 bits sr:8, 1 stage", integers(8, Rounding::sr(8), 1)},
                                   {"16 bits, 2 stages", integers(16, Rounding::rne(), 2)},
                                   {"16 bits sr:32, 2 stages", integers(16, Rounding::sr(32), 2)}},
                                  {"8 bits", integers(8, Rounding::rne(), 0)}, "Round"),
      .systemc = make_gemmlowp_quantizer,
      .reference = [](const UnitParameters& p) { return std::make_unique<GemmlowpReference>(p); },
      .optional_outputs = {"invalid_o"},
  };
}

}  // namespace mantissa::verify

// weight_update: weights, momenta and gradients of every kind, skipped steps, both ways to unscale.

#include <cmath>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "sim/stimulus/vector_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/units/rounding_parameter.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

constexpr Format fp16 = formats::fp16;
constexpr Format fp32 = formats::fp32;

enum Port { w, m, g, lr, mu, wd, unscale, rnd, skip };

float float_of(const Bits& bits) { return fp32_value(static_cast<std::uint32_t>(bits.value())); }

// Not a VectorReference: gradients that are not finite, skipped steps and the factor are the unit's alone.
class WeightUpdateReference : public Reference {
 public:
  explicit WeightUpdateReference(const UnitParameters& parameters)
      : rounding_(weight_update_rounding(parameters)),
        by_factor_(parameters.at("UnscaleByFactor") != 0),
        vectors_(stimulus::find_vector_unit("weight_update").build({{"round", rounding_.name()}})) {
    coverage_.exclude("w next -nan", "a NaN result has no sign");
  }

  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    std::vector<std::uint32_t> fields(vectors_.inputs.size());
    if (const auto corner = vectors_.corner_in_turn(index)) {
      fields = *corner;
    } else {
      vectors_.randomise(dice, fields);
      // Any operand may be anything, the registers too.
      for (const Port port : {m, g, lr, mu, wd}) {
        if (dice.below(32) == 0) fields[port] = stimulus::random_code(dice, fp32);
      }
      if (dice.below(8) == 0) fields[unscale] = dice.bits(8);
    }
    if (dice.below(32) == 0) cancel(fields);
    std::uint32_t unscaling = fields[unscale];
    if (by_factor_) {
      unscaling =
          dice.below(4) == 0 ? stimulus::random_code(dice, fp32) : power_of_two(-exponent_of(unscaling));
    }
    return {Bits(16, fields[w]),
            Bits(32, fields[m]),
            Bits(32, fields[g]),
            Bits(32, fields[lr]),
            Bits(32, fields[mu]),
            Bits(32, fields[wd]),
            Bits(by_factor_ ? 32 : 8, unscaling),
            Bits(random_port_bits(rounding_), rounding_.stochastic() ? fields[rnd] : 0),
            Bits(1, dice.below(8) == 0 ? 1 : 0)};
  }

  void accept(const Transaction& inputs) override {
    const UpdatedWeight next = update(inputs);
    const float gradient = float_of(inputs[g]);
    const bool nonfinite = has_nonfinite({&gradient, 1});
    sample_bins(inputs, next, nonfinite);
    const bool skipped = inputs[skip].value() != 0;
    expect({skipped ? inputs[w] : Bits(16, next.weight),
            skipped ? inputs[m] : Bits(32, fp32_bits(next.momentum)),
            Bits(5, skipped ? 0 : next.flags.bits()), Bits(1, nonfinite ? 1 : 0)},
           inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    std::vector<std::string> lines;
    for (const Port port : {w, m, g, lr, mu, wd}) {
      lines.push_back(vectors_.inputs[port].name + ": " +
                      described_value(cause[port], port == w ? fp16 : fp32));
    }
    const WeightUpdateConfig config = config_of(cause);
    UpdateState state = state_of(cause);
    const auto line = [&lines](const char* name, float value) {
      lines.push_back(std::string("golden ") + name + ": " +
                      described_value(Bits(32, fp32_bits(value)), fp32));
    };
    update_unscale(state, config);
    line("g'", state.gradient);
    update_decay(state, config);
    line("g''", state.gradient);
    update_momentum(state, config);
    line("m'", state.momentum);
    update_step(state, config);
    line("w'", state.next);
    return lines;
  }

 private:
  static int exponent_of(std::uint32_t port) {
    return std::get<UnscaleByExponent>(unscale_of(port, false)).exponent;
  }
  static std::uint32_t power_of_two(int exponent) {
    return round(Exact::integer(false, 1, exponent), fp32, Rounding::rne(), 0, Overflow::ieee).code;
  }

  // A step that takes away the whole weight: lr = 1, m' = w.
  static void cancel(std::vector<std::uint32_t>& fields) {
    fields[m] = fields[wd] = 0;
    fields[lr] = power_of_two(0);
    fields[g] = convert(fields[w], {.from = fp16, .to = fp32}).code;
    fields[unscale] = 0;
  }

  WeightUpdateConfig config_of(const Transaction& inputs) const {
    return {.learning_rate = float_of(inputs[lr]),
            .momentum = float_of(inputs[mu]),
            .weight_decay = float_of(inputs[wd]),
            .unscale = unscale_of(static_cast<std::uint32_t>(inputs[unscale].value()), by_factor_),
            .rounding = rounding_};
  }
  static UpdateState state_of(const Transaction& inputs) {
    return {.weight = static_cast<std::uint16_t>(inputs[w].value()),
            .momentum = float_of(inputs[m]),
            .gradient = float_of(inputs[g])};
  }
  UpdatedWeight update(const Transaction& inputs) const {
    const UpdateState state = state_of(inputs);
    return update_weight(state.weight, state.momentum, state.gradient, config_of(inputs),
                         static_cast<std::uint32_t>(inputs[rnd].value()));
  }

  void sample_bins(const Transaction& inputs, const UpdatedWeight& next, bool nonfinite) {
    const auto code = [&inputs](Port port) { return static_cast<std::uint32_t>(inputs[port].value()); };
    weight_.sample(code(w));
    momentum_.sample(code(m));
    gradient_.sample(code(g));
    if (code(skip) != 0) {
      coverage_.hit(skipped_);
      coverage_.hit_if(nonfinite, skipped_nonfinite_);
      return;
    }
    coverage_.hit_if(nonfinite, updated_nonfinite_);
    coverage_.hit_if(fp32.is_zero(code(mu)), no_momentum_);
    coverage_.hit_if(fp32.is_zero(code(wd)), no_decay_);
    result_.sample(next.weight);
    flags_.sample(next.flags.bits());
    coverage_.hit_if(fp16.is_zero(next.weight) && !next.flags.inexact && !fp16.is_zero(code(w)), cancels_);
    const WeightUpdateConfig config = config_of(inputs);
    UpdateState state = state_of(inputs);
    update_unscale(state, config);
    coverage_.hit_if(!nonfinite && std::isinf(state.gradient), unscale_overflows_);
    coverage_.hit_if(!nonfinite && unscaling_is_inexact(code(g), config), unscale_rounds_);
    update_decay(state, config);
    update_momentum(state, config);
    update_step(state, config);
    const Exact exact = decode(fp32_bits(state.next), fp32);
    if (exact.is_finite()) stored_.sample(exact, code(rnd));
  }

  static bool unscaling_is_inexact(std::uint32_t gradient, const WeightUpdateConfig& config) {
    if (const auto* by_factor = std::get_if<UnscaleByFactor>(&config.unscale))
      return fp32_mul(gradient, fp32_bits(by_factor->factor)).flags.inexact;
    return convert(gradient, {.scale = -std::get<UnscaleByExponent>(config.unscale).exponent}).flags.inexact;
  }

  Rounding rounding_;
  bool by_factor_;
  stimulus::VectorUnit vectors_;
  OperandBins weight_{coverage_, "w", fp16};
  OperandBins momentum_{coverage_, "m", fp32};
  OperandBins gradient_{coverage_, "g", fp32};
  OperandBins result_{coverage_, "w next", fp16};
  FlagBins flags_{coverage_, {.overflow = true, .underflow = true, .inexact = true}};
  RoundingBins stored_{coverage_, fp16, rounding_};
  int skipped_ = coverage_.declare("skipped");
  int skipped_nonfinite_ = coverage_.declare("skipped, g not finite");
  int updated_nonfinite_ = coverage_.declare("updated, g not finite");
  int no_momentum_ = coverage_.declare("mu = 0");
  int no_decay_ = coverage_.declare("wd = 0");
  int unscale_rounds_ = coverage_.declare("unscaling is inexact");
  int unscale_overflows_ = coverage_.declare("unscaling overflows");
  int cancels_ = coverage_.declare("w' = 0 from w other than 0");
};

}  // namespace

UnitKind weight_update_kind() {
  const int sr = static_cast<int>(Rounding::Mode::sr);
  return {
      .name = "weight_update",
      .module = "weight_update",
      .what = "one step of an FP16 master weight and its FP32 momentum",
      .section = "11",
      .latency = "PipeStages",
      .parameters = {{"Round", 0,
                      "of the new weight to FP16: " + rounding_numbers(nearest_or_stochastic) +
                          "; sr has 13 bits"},
                     {"UnscaleByFactor", 0, "0: unscale_i is k, g' = g * 2^-k; 1: a factor"},
                     {"PipeStages", 0,
                      "0 to 4 registers: after decay, after momentum, after the step, after unscaling"}},
      .ports = {{"w_i", "16", "weight, FP16"},
                {"m_i", "32", "momentum, FP32"},
                {"g_i", "32", "gradient times the loss scale, FP32"},
                {"lr_i", "32", "register: learning rate, FP32"},
                {"mu_i", "32", "register: factor of the momentum, FP32"},
                {"wd_i", "32", "register: weight decay, FP32"},
                {"unscale_i", "UnscaleByFactor ? 32 : 8",
                 "register: k, -127 to 128 modulo 256, of a loss scale 2^k; or its inverse, FP32"},
                {"rnd_i", "Round == 2 ? 13 : 1", "random bits of sr"},
                {"skip_i", "1", "weight and momentum go through unchanged, without flags"},
                {"w_o", "16", "the new weight"},
                {"m_o", "32", "the new momentum"},
                {"flags_o", "5", "of the rounding to FP16"},
                {"nonfinite_o", "1", "g_i is Inf or NaN, also of a skipped element"}},
      .configurations =
          with_ties({{"rne", {}},
                     {"rne, 1 stage", {{"PipeStages", 1}}},
                     {"sr:13, 4 stages", {{"Round", sr}, {"PipeStages", 4}}},
                     {"factor, 2 stages", {{"UnscaleByFactor", 1}, {"PipeStages", 2}}},
                     {"factor sr:13, 3 stages", {{"UnscaleByFactor", 1}, {"Round", sr}, {"PipeStages", 3}}}},
                    {}, "Round"),
      .systemc = make_weight_update,
      .reference = [](const UnitParameters& p) { return std::make_unique<WeightUpdateReference>(p); },
      .optional_outputs = {"flags_o", "nonfinite_o"},
  };
}

}  // namespace mantissa::verify

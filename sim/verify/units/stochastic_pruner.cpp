// stochastic_pruner: gradients of every kind around tau, most of them where the draw decides, many exactly on
// the edge of the decision.

#include <array>

#include "sim/units/unit_configs.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

stimulus::VectorUnit pruner_vectors(const Pruner& pruner) {
  return stimulus::find_vector_unit("stochastic_pruner")
      .build({{"format", pruner.format.name()}, {"round", Rounding::sr(pruner.random_bits).name()}});
}

class StochasticPrunerReference : public VectorReference {
 public:
  explicit StochasticPrunerReference(const UnitParameters& parameters)
      : VectorReference(pruner_vectors(stochastic_pruner_config(parameters)), {0, 1, 2}, {0, 1, 2}),
        pruner_(stochastic_pruner_config(parameters)),
        outcomes_{coverage_.declare("zero in"), coverage_.declare("kept"), coverage_.declare("snapped"),
                  coverage_.declare("zero made")} {
    const std::string reason = "tau is a finite number, and not negative";
    for (const char* bin : {"tau +inf", "tau +nan", "tau -subnormal", "tau -normal", "tau -inf", "tau -nan"})
      coverage_.exclude(bin, reason);
    if (pruner_.format.mantissa_bits == 0)
      coverage_.exclude("subnormal", "the format has no subnormal numbers");
  }

  // -0 is a threshold too, and counts as 0.
  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    Transaction inputs = VectorReference::stimulus(index, dice);
    const Format& format = pruner_.format;
    if (format.has_negative_zero() && dice.below(256) == 0)
      inputs[1] = Bits(format.bits(), format.sign_bit());
    return inputs;
  }

  // Thresholds that are none give way to 0.
  Transaction exhaustive_stimulus(std::uint64_t index) override {
    Transaction inputs = VectorReference::exhaustive_stimulus(index);
    const Format& format = pruner_.format;
    const auto tau = static_cast<std::uint32_t>(inputs[1].value());
    const bool negative = format.is_negative(tau) && !format.is_zero(tau);
    if (negative || format.is_inf(tau) || format.is_nan(tau)) inputs[1] = Bits(format.bits());
    return inputs;
  }

  void accept(const Transaction& inputs) override {
    VectorReference::accept(inputs);
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const Format& format = pruner_.format;
    Pruner pruner = pruner_;
    pruner.tau = fields[1];
    const Pruned result = prune(fields[0], pruner, fields[2]);
    coverage_.hit(outcomes_[static_cast<int>(result.outcome)]);
    const std::uint32_t g = fields[0] & format.magnitude_mask();
    const std::uint32_t tau = fields[1] & format.magnitude_mask();
    coverage_.hit_if(g == tau && g != 0, equal_);
    if (result.outcome != Pruned::Outcome::snapped && result.outcome != Pruned::Outcome::zero_made) return;
    const std::uint32_t largest = Rounding::sr(pruner.random_bits).random_mask();
    coverage_.hit_if(fields[2] == 0, lowest_);
    coverage_.hit_if(fields[2] == largest, highest_);
    // On the edge is where this draw snaps and the one below does not.
    coverage_.hit_if(result.outcome == Pruned::Outcome::snapped && exactly_on_edge(g, tau, fields[2]),
                     on_edge_);
    const bool small = g >> format.mantissa_bits == 0;
    coverage_.hit_if(small && tau >> format.mantissa_bits == 0, both_subnormal_);
    coverage_.hit_if(small && tau >> format.mantissa_bits != 0, subnormal_);
  }

 private:
  bool exactly_on_edge(std::uint32_t g, std::uint32_t tau, std::uint32_t draw) const {
    Flags none;
    const std::uint64_t share = (std::uint64_t{1} << pruner_.random_bits) - draw;
    const Exact limit =
        multiply(Exact::integer(false, share, -pruner_.random_bits), decode(tau, pruner_.format), none);
    const Exact magnitude = decode(g, pruner_.format);
    return limit.exponent == magnitude.exponent && limit.significand == magnitude.significand;
  }

  Pruner pruner_;
  std::array<int, 4> outcomes_;
  int on_edge_ = coverage_.declare("|g| * 2^r = (2^r - R) * tau");
  int equal_ = coverage_.declare("|g| = tau");
  int lowest_ = coverage_.declare("R = 0 below tau");
  int highest_ = coverage_.declare("R largest below tau");
  int both_subnormal_ = coverage_.declare("subnormal below a subnormal tau");
  int subnormal_ = coverage_.declare("subnormal below a normal tau");
};

UnitParameters element(const Format& format, int random_bits, int stages) {
  UnitParameters parameters{
      {"Exp", 0}, {"Man", 0}, {"Specials", 0}, {"RndBits", random_bits}, {"PipeStages", stages}};
  parameters.set_format("", format);
  return parameters;
}

}  // namespace

UnitKind stochastic_pruner_kind() {
  using namespace formats;
  return {
      .name = "stochastic_pruner",
      .module = "stochastic_pruner",
      .what = "magnitudes below tau become tau or zero, the mean stays",
      .section = "6",
      .latency = "PipeStages",
      .parameters = {{"Exp", 8, "exponent bits of g and tau"},
                     {"Man", 23, "mantissa bits of g and tau"},
                     {"Specials", 0, "special codes: 0 ieee, 1 fn, 2 finite, 3 fnuz"},
                     {"RndBits", 16, "random bits per element, 1 to 32"},
                     {"PipeStages", 0, "0 or 1 register: between the product and the comparison"}},
      .ports = {{"g_i", "1+Exp+Man", "gradient"},
                {"tau_i", "1+Exp+Man", "threshold: finite, 0 or more; its sign does not count"},
                {"rnd_i", "RndBits", "the element's draw"},
                {"g_o", "1+Exp+Man", "the pruned gradient"},
                {"nonzero_o", "1", "g_o is not zero"},
                {"outcome_o", "2", "0 zero in, 1 kept, 2 snapped to tau, 3 zero made"}},
      .configurations = {{"fp32", element(fp32, 16, 0)},
                         {"e5m2 sr:8, 1 stage", element(e5m2, 8, 1)},
                         {"e4m3:fnuz sr:16", element(Format::parse("e4m3:fnuz"), 16, 0)},
                         {"bf16 sr:32, 1 stage", element(bf16, 32, 1)}},
      .systemc = make_stochastic_pruner,
      .reference = [](const UnitParameters& p) { return std::make_unique<StochasticPrunerReference>(p); },
      .optional_outputs = {"outcome_o"},
  };
}

}  // namespace mantissa::verify

// fp8_mac: every operand pair can meet every kind of accumulator; bins are those of its stages.

#include <algorithm>

#include "sim/units/unit_configs.hpp"
#include "sim/verify/datapath_reference.hpp"
#include "sim/verify/units/rounding_parameter.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

stimulus::VectorUnit mac_vectors(const MacConfig& config) {
  return stimulus::find_vector_unit("fp8_mac").build({{"a", config.a.name()},
                                                      {"b", config.b.name()},
                                                      {"acc", config.acc.name()},
                                                      {"round", config.rounding.name()}});
}

class Fp8MacReference : public DatapathReference {
 public:
  explicit Fp8MacReference(const MacConfig& config)
      : DatapathReference(mac_vectors(config), {0, 1, 2, config.rounding.stochastic() ? 3 : -1},
                          fp8_mac_datapath(config)),
        accumulators_(stimulus::many_corner_codes(config.acc)) {}

  // All pairs of operands; the accumulators of a pair are the format's corners and what meets its product:
  // the product with either sign and its neighbours, and values that make it a tie or leave only its sticky
  // bit.
  std::uint64_t exhaustive_count() const override {
    return (std::uint64_t{1} << (config().a.bits() + config().b.bits())) * accumulators_per_pair;
  }

  Transaction exhaustive_stimulus(std::uint64_t index) override {
    const std::uint64_t which = index % accumulators_per_pair;
    const std::uint64_t pair = index / accumulators_per_pair;
    const auto a = static_cast<std::uint32_t>(pair & config().a.code_mask());
    const auto b = static_cast<std::uint32_t>(pair >> config().a.bits());
    stimulus::Dice dice(pair, which);
    return {Bits(config().a.bits(), a), Bits(config().b.bits(), b),
            Bits(config().acc.bits(), accumulator(a, b, which)),
            Bits(random_port_bits(config().rounding), dice.next() >> 32)};
  }

  std::string diagnose(const Expected& expected, const Transaction& actual) const override {
    const Format& format = config().acc;
    const auto want = static_cast<std::uint32_t>(expected.outputs[0].value());
    const auto got = static_cast<std::uint32_t>(actual[0].value());
    if (want == got) return "flags";
    if (format.is_nan(want) || format.is_nan(got) || format.is_inf(want) || format.is_inf(got))
      return "special values";
    if (want == (got ^ format.sign_bit())) return "sign";
    if (want - got == 1 || got - want == 1) {
      const MacState state = state_of(fields_of(expected.cause));
      const int quantum = std::max(state.sum.exponent, format.min_exponent()) - format.mantissa_bits;
      const Multiple halves = round_to_multiple(state.sum, quantum - 1, Rounding::rtz(), 0);
      const bool tie = (halves.count & 1) != 0 && !halves.inexact;
      return std::string("round (the neighbour of the right result") + (tie ? ", on a tie)" : ")");
    }
    return {};
  }

 private:
  static constexpr std::uint64_t accumulators_per_pair = 72;

  std::uint32_t accumulator(std::uint32_t a, std::uint32_t b, std::uint64_t which) const {
    if (which < accumulators_.size()) return accumulators_[which];
    // Around the product, and at distances where its bits fall on guard, round and sticky.
    Flags ignored;
    const Exact product = multiply(decode(a, config().a), decode(b, config().b), ignored);
    stimulus::Dice dice(std::uint64_t{a} << 8 | b, which);
    if (!product.is_finite()) return stimulus::random_code(dice, config().acc);
    if (which < accumulators_.size() + 12) {
      const std::uint64_t offset = which - accumulators_.size();
      const Exact signed_product = offset % 2 == 0 ? product : product.negated();
      const std::uint32_t near = round(signed_product, config().acc, Rounding::rtz(), 0, Overflow::ieee).code;
      const auto step = static_cast<std::uint32_t>(offset / 2);  // 0, +1, +2, -1, -2, and half of it
      if (step < 3) return near + step;
      if (step < 5) return near - (step - 2);
      return round(signed_product.scaled(-1), config().acc, Rounding::rtz(), 0, Overflow::ieee).code;
    }
    return stimulus::random_code_near(dice, config().acc, product.exponent, config().frame_bits() + 2);
  }

  std::vector<std::uint32_t> accumulators_;
};

}  // namespace

UnitKind fp8_mac_kind() {
  using namespace formats;
  const int sr = static_cast<int>(Rounding::Mode::sr);
  return {
      .name = "fp8_mac",
      .module = "fp8_mac",
      .what = "acc + a*b with one rounding, any 8-bit formats, any accumulator format",
      .section = "4",
      .latency = "PipeStages",
      .parameters =
          joined({format_notes("A", "a", true),
                  format_notes("B", "b"),
                  {{"AccExp", 8, "exponent bits of the accumulator, an IEEE-like format"},
                   {"AccMan", 23, "mantissa bits of the accumulator"},
                   {"AccRound", 0, rounding_numbers()},
                   {"RndBits", 0, "random bits of sr; 0 otherwise"},
                   {"PipeStages", 0, "0 to 3 registers: after align, after normalise, after the product"}}}),
      .ports = {{"a_i", "1+AExp+AMan", "operand"},
                {"b_i", "1+BExp+BMan", "operand"},
                {"acc_i", "1+AccExp+AccMan", "accumulator"},
                {"rnd_i", "max(1,RndBits)", "random bits of sr"},
                {"acc_o", "1+AccExp+AccMan", "acc_i + a_i*b_i, rounded once"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"},
                {"tap_o", "TapW", "intermediate values: product, align, sum, normalised, rounded"}},
      .configurations = with_ties(
          {{"e5m2 fp32", operand_formats(e5m2, e5m2)},
           {"e4m3 fp32", operand_formats(e4m3, e4m3)},
           {"e5m2 e4m3 fp32, 1 stage", operand_formats(e5m2, e4m3).with({{"PipeStages", 1}})},
           {"e5m2 fp16, 2 stages",
            operand_formats(e5m2, e5m2).with({{"AccExp", 5}, {"AccMan", 10}, {"PipeStages", 2}})},
           {"e4m3 e6m5 sr:13, 3 stages",
            operand_formats(e4m3, e4m3)
                .with({{"AccExp", 6}, {"AccMan", 5}, {"AccRound", sr}, {"RndBits", 13}, {"PipeStages", 3}})}},
          {"e5m2 fp16", operand_formats(e5m2, e5m2).with({{"AccExp", 5}, {"AccMan", 10}})}, "AccRound"),
      .systemc = make_fp8_mac,
      .reference =
          [](const UnitParameters& p) { return std::make_unique<Fp8MacReference>(fp8_mac_config(p)); },
      .optional_outputs = {"flags_o", "tap_o"},
  };
}

}  // namespace mantissa::verify

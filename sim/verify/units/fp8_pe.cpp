// fp8_pe: sums of random length, cleared with an operand pair or between pairs.

#include "models/mac/fp8_pe.hpp"

#include "sim/units/unit_configs.hpp"
#include "sim/verify/datapath_bins.hpp"
#include "sim/verify/datapath_view.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class Fp8PeReference : public Reference {
 public:
  explicit Fp8PeReference(const UnitParameters& parameters) : config_(fp8_pe_config(parameters)) {
    coverage_.exclude("sum -zero", "a step that rounds to zero gives +0");
    coverage_.exclude("sum -nan", "the canonical NaN is positive");
    if (config_.a.min_quantum() + config_.b.min_quantum() >= config_.acc.min_exponent()) {
      for (const char* bin : {"result subnormal", "sum +subnormal", "sum -subnormal"}) {
        coverage_.exclude(bin, "every product is a multiple of a normal number");
      }
    }
    if (config_.a.min_quantum() + config_.b.min_quantum() >= config_.acc.min_quantum()) {
      coverage_.exclude("-0 becomes +0", "no sum is too small for the accumulator");
    }
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    return transaction(dice, dice.below(16) == 0);
  }
  // clear_i counts without valid_i, the operands do not.
  Transaction idle(stimulus::Dice& dice) override {
    const bool clear = dice.below(16) == 0;
    coverage_.hit_if(clear && acc_ != 0, clear_only_);
    if (clear) acc_ = 0;
    return transaction(dice, clear);
  }

  void accept(const Transaction& inputs) override {
    const auto a = static_cast<std::uint32_t>(inputs[1].value());
    const auto b = static_cast<std::uint32_t>(inputs[2].value());
    const bool clear = inputs[0].value() != 0;
    coverage_.hit_if(clear && acc_ != 0, clear_);
    if (clear) acc_ = 0;
    sample(mac_state(a, b, acc_, config_), a, b);
    before_.push_back(acc_);
    acc_ = fp8_pe(a, b, acc_, config_);
    sum_bins_.sample(acc_);
    expect({Bits(config_.acc.bits(), acc_)}, inputs);
  }

  std::optional<Expected> next() override {
    std::optional<Expected> expected = Reference::next();
    if (!expected) return expected;
    answered_ = expected->cause;
    answered_from_ = before_.front();
    before_.pop_front();
    return expected;
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    std::vector<std::string> lines = {"clear: " + cause[0].hex(),
                                      "a: " + described_value(cause[1], config_.a),
                                      "b: " + described_value(cause[2], config_.b)};
    if (cause != answered_) return lines;  // taken but not yet due: from which sum is not known here
    lines.push_back("golden sum before: " +
                    described_value(Bits(config_.acc.bits(), answered_from_), config_.acc));
    const MacState state = mac_state(static_cast<std::uint32_t>(cause[1].value()),
                                     static_cast<std::uint32_t>(cause[2].value()), answered_from_, config_);
    for (std::string& stage : datapath_view(state, config_)) lines.push_back(std::move(stage));
    return lines;
  }

  std::string decimal(std::size_t /*output*/, const Bits& bits) const override {
    return decimal_of(bits, config_.acc);
  }

 private:
  // A NaN or Inf stays to the end of the sum: most sums must do without.
  static std::uint32_t operand(stimulus::Dice& dice, const Format& format) {
    const bool any = dice.below(64) == 0;
    std::uint32_t code = stimulus::random_code(dice, format);
    while (!any && (format.is_nan(code) || format.is_inf(code))) code = stimulus::random_code(dice, format);
    return code;
  }
  Transaction transaction(stimulus::Dice& dice, bool clear) const {
    return {Bits(1, clear ? 1 : 0), Bits(config_.a.bits(), operand(dice, config_.a)),
            Bits(config_.b.bits(), operand(dice, config_.b))};
  }

  void sample(const MacState& state, std::uint32_t a, std::uint32_t b) {
    a_bins_.sample(a);
    b_bins_.sample(b);
    datapath_.sample(state, 0);
    coverage_.hit_if(config_.acc.is_zero(state.code) && config_.acc.is_negative(state.code), minus_zero_);
  }

  MacConfig config_;
  OperandBins a_bins_{coverage_, "a", config_.a};
  OperandBins b_bins_{coverage_, "b", config_.b};
  OperandBins sum_bins_{coverage_, "sum", config_.acc};
  DatapathBins datapath_{coverage_, config_};
  int clear_ = coverage_.declare("clear with operands");
  int clear_only_ = coverage_.declare("clear without operands");
  int minus_zero_ = coverage_.declare("-0 becomes +0");
  std::uint32_t acc_ = 0;
  std::deque<std::uint32_t> before_;  // the sums that the answers still owed started from
  Transaction answered_;              // the cause of the last answer, and the sum before it
  std::uint32_t answered_from_ = 0;
};

}  // namespace

UnitKind fp8_pe_kind() {
  using namespace formats;
  return {
      .name = "fp8_pe",
      .module = "fp8_pe",
      .what = "processing element of the array: operand registers, fp8_mac, accumulator",
      .section = "4, 7",
      .latency = "2",
      .parameters = joined({format_notes("A", "a", true),
                            format_notes("B", "b"),
                            {{"AccExp", 8, "exponent bits of the accumulator, an IEEE-like format"},
                             {"AccMan", 23, "mantissa bits of the accumulator"}}}),
      .ports = {{"clear_i", "1", "a new sum from +0; counts without valid_i too"},
                {"a_i", "1+AExp+AMan", "operand"},
                {"b_i", "1+BExp+BMan", "operand"},
                {"acc_o", "1+AccExp+AccMan", "the sum; valid_o: it has just taken a step"}},
      .configurations = {{"e5m2 fp32", operand_formats(e5m2, e5m2)},
                         {"e5m2 fp16", operand_formats(e5m2, e5m2).with({{"AccExp", 5}, {"AccMan", 10}})},
                         {"e4m3 e5m2 bf16", operand_formats(e4m3, e5m2).with({{"AccMan", 7}})}},
      .systemc = make_fp8_pe,
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp8PeReference>(p); },
      .back_pressure = false,
  };
}

}  // namespace mantissa::verify

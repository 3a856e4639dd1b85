// lfsr: loads of seeds, zero among them, and draws between them.
#include "models/random/lfsr.hpp"

#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class LfsrReference : public Reference {
 public:
  explicit LfsrReference(const UnitParameters& parameters)
      : leap_(parameters.at("Leap")), draws_(parameters.at("Draws")) {}

  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    if (index == 0) return {Bits(32, 1)};
    return {Bits(32, dice.below(4) == 0 ? 0 : dice.bits(32))};
  }

  void accept(const Transaction& inputs) override {
    const auto seed = static_cast<std::uint32_t>(inputs[0].value());
    coverage_.hit(seed == 0 ? zero_bin_ : other_bin_);
    coverage_.hit_if(drawn_, reload_bin_);
    // A loaded unit takes a seed in the cycle in which its last draws are taken: those come first.
    loading_ = inputs;
    if (!generator_) load();
  }

  // A loaded generator always has one more. It owes the first draws after each load.
  std::optional<Expected> next() override {
    if (!generator_) return std::nullopt;
    drawn_ = true;
    Bits draws(32 * draws_);
    for (int i = 0; i < draws_; ++i) draws.set_field(32 * i, 32, generator_->draw());
    const Expected expected{{draws, Bits(1, cause_[0].value() == 0 ? 1 : 0)}, cause_};
    load();
    return expected;
  }

  bool drained() const override { return !generator_ || (drawn_ && loading_.empty()); }

  int input_rate() const override { return 8; }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"seed: " + cause[0].hex()};
  }

 private:
  void load() {
    if (loading_.empty()) return;
    const auto seed = static_cast<std::uint32_t>(loading_[0].value());
    generator_.emplace(seed == 0 ? 1 : seed, leap_);
    cause_ = std::move(loading_);
    loading_.clear();
    drawn_ = false;
  }

  int leap_;
  int draws_;
  int zero_bin_ = coverage_.declare("seed 0");
  int other_bin_ = coverage_.declare("seed other than 0");
  int reload_bin_ = coverage_.declare("load after draws");
  bool drawn_ = false;
  std::optional<Lfsr> generator_;
  Transaction cause_;    // the seed of the generator
  Transaction loading_;  // the seed that replaces it after the next draws
};

}  // namespace

UnitKind lfsr_kind() {
  return {
      .name = "lfsr",
      .module = "lfsr",
      .what = "random generator: 32-bit Galois LFSR, Leap steps per draw",
      .section = "3",
      .latency = "draws offered from the cycle after a load, new ones every cycle",
      .parameters = {{"Leap", 16, "steps per draw, 1 to 32"}, {"Draws", 1, "draws per cycle"}},
      .ports = {{"seed_i", "32", "with valid_i: the new state; 0 becomes 1"},
                {"rnd_o", "32*Draws", "draws of this cycle, first one lowest; ready_i takes them"},
                {"zero_seed_o", "1", "the last seed was 0"}},
      .configurations = {{"leap16", {}},
                         {"leap1", {{"Leap", 1}}},
                         {"two draws", {{"Leap", 13}, {"Draws", 2}}}},
      .systemc = make_lfsr,
      .reference = [](const UnitParameters& p) { return std::make_unique<LfsrReference>(p); },
  };
}

}  // namespace mantissa::verify

// lfsr in SystemC: a loaded generator that offers the draws of the next cycle.
#include "models/random/lfsr.hpp"

#include <optional>

#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class LfsrUnit : public ClockedUnit {
 public:
  LfsrUnit(const sc_core::sc_module_name& name, int leap, int draws)
      : ClockedUnit(name, Follows::ready), leap_(leap), draws_(draws) {}

  std::vector<std::string> stages() const override { return {"leap"}; }

 private:
  // The draws of this cycle, and the generator after them.
  struct Offer {
    Bits draws;
    Lfsr after;
  };
  Offer offer() const {
    Offer offer{Bits(32 * draws_), *generator_};
    for (int i = 0; i < draws_; ++i) offer.draws.set_field(32 * i, 32, offer.after.draw());
    if (corrupted("leap")) offer.draws.flip(7);
    return offer;
  }

  void evaluate() override {
    ready_o.write(ready_i.read() || !generator_);
    valid_o.write(generator_.has_value());
    if (generator_) rnd_o_.write(offer().draws);
    zero_seed_o_.put(zero_seed_ ? 1 : 0);
  }

  void advance() override {
    if (valid_i.read() && (ready_i.read() || !generator_)) {
      // The generator refuses state 0; the unit loads 1 in its place and says so (ARITHMETIC.md 3).
      const std::uint32_t seed = seed_i_.code();
      zero_seed_ = seed == 0;
      generator_.emplace(zero_seed_ ? 1 : seed, leap_);
    } else if (generator_ && ready_i.read()) {
      *generator_ = offer().after;
    }
  }

  void reset() override {
    generator_.reset();
    zero_seed_ = false;
  }

  int leap_;
  int draws_;
  DataIn seed_i_{*this, "seed_i", 32};
  DataOut rnd_o_{*this, "rnd_o", 32 * draws_};
  DataOut zero_seed_o_{*this, "zero_seed_o", 1};
  std::optional<Lfsr> generator_;
  bool zero_seed_ = false;
};

}  // namespace

std::unique_ptr<UnitModule> make_lfsr(const char* name, const UnitParameters& parameters) {
  return std::make_unique<LfsrUnit>(name, parameters.at("Leap"), parameters.at("Draws"));
}

}  // namespace mantissa

#include "sim/units/lfsr.hpp"

namespace mantissa {

LfsrUnit::LfsrUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name, Follows::ready),
      leap_(parameters.at("Leap")),
      draws_(parameters.at("Draws")),
      seed_i_(*this, "seed_i", 32),
      rnd_o_(*this, "rnd_o", 32 * draws_),
      zero_seed_o_(*this, "zero_seed_o", 1) {}

void LfsrUnit::corrupt(std::string_view /*stage*/) { corrupt_ = true; }

LfsrUnit::Offer LfsrUnit::offer() const {
  Offer offer{Bits(32 * draws_), *generator_};
  for (int i = 0; i < draws_; ++i) offer.draws.set_field(32 * i, 32, offer.after.draw());
  if (corrupt_) offer.draws.flip(7);
  return offer;
}

void LfsrUnit::evaluate() {
  ready_o.write(ready_i.read() || !generator_);
  valid_o.write(generator_.has_value());
  if (generator_) rnd_o_.write(offer().draws);
  zero_seed_o_.put(zero_seed_ ? 1 : 0);
}

void LfsrUnit::reset() {
  generator_.reset();
  zero_seed_ = false;
}

void LfsrUnit::advance() {
  if (valid_i.read() && (ready_i.read() || !generator_)) {
    // The generator refuses state 0; the unit loads 1 in its place and says so (ARITHMETIC.md 3).
    const auto seed = static_cast<std::uint32_t>(seed_i_.value());
    zero_seed_ = seed == 0;
    generator_.emplace(zero_seed_ ? 1 : seed, leap_);
  } else if (generator_ && ready_i.read()) {
    *generator_ = offer().after;
  }
}

}  // namespace mantissa

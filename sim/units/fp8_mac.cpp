#include "sim/units/fp8_mac.hpp"

namespace mantissa {

MacConfig fp8_mac_config(const UnitParameters& parameters) {
  return {parameters.format("A"), parameters.format("B"), parameters.format("Acc"),
          parameters.rounding("AccRound")};
}

Fp8Mac::Fp8Mac(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : MacPipeline(name, fp8_mac_config(parameters), parameters.at("PipeStages")),
      a_i_(*this, "a_i", config().a.bits()),
      b_i_(*this, "b_i", config().b.bits()),
      acc_i_(*this, "acc_i", config().acc.bits()),
      rnd_i_(*this, "rnd_i", random_port_bits(config().rounding)),
      acc_o_(*this, "acc_o", config().acc.bits()),
      flags_o_(*this, "flags_o", 5),
      tap_o_(*this, "tap_o", tap_bits(mac_tap_layout(config(), fp8_mac_exponent_bits))) {}

void Fp8Mac::load(MacTransaction& transaction) const {
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
  transaction.acc = static_cast<std::uint32_t>(acc_i_.value());
  transaction.draw = static_cast<std::uint32_t>(rnd_i_.value());
}

void Fp8Mac::store(const MacTransaction& transaction) {
  acc_o_.put(transaction.mac.code);
  flags_o_.put(transaction.mac.flags.bits());
  tap_o_.write(pack_mac_taps(mac_taps(transaction.mac, config()), config(), fp8_mac_exponent_bits));
}

}  // namespace mantissa

#include "sim/units/fp32_fma.hpp"

namespace mantissa {

Fp32Fma::Fp32Fma(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : MacPipeline(name, fp32_fma_config(), parameters.at("PipeStages")),
      a_i_(*this, "a_i", 32),
      b_i_(*this, "b_i", 32),
      c_i_(*this, "c_i", 32),
      z_o_(*this, "z_o", 32),
      flags_o_(*this, "flags_o", 5),
      tap_o_(*this, "tap_o", tap_bits(mac_tap_layout(fp32_fma_config(), fp32_fma_exponent_bits))) {}

void Fp32Fma::load(MacTransaction& transaction) const {
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
  transaction.acc = static_cast<std::uint32_t>(c_i_.value());
}

void Fp32Fma::store(const MacTransaction& transaction) {
  z_o_.put(transaction.mac.code);
  flags_o_.put(transaction.mac.flags.bits());
  tap_o_.write(pack_mac_taps(mac_taps(transaction.mac, config()), config(), fp32_fma_exponent_bits));
}

}  // namespace mantissa

// fp8_mac in SystemC: the golden model's stages with the registers of rtl/fp8_mac.sv between them.
#pragma once

#include "sim/units/mac_pipeline.hpp"
#include "sim/units/mac_tap.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The parameters of rtl/fp8_mac.sv as the golden model wants them.
MacConfig fp8_mac_config(const UnitParameters& parameters);
// Width of the signed exponents on tap_o.
constexpr int fp8_mac_exponent_bits = 9;

class Fp8Mac : public MacPipeline {
 public:
  Fp8Mac(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(MacTransaction& transaction) const override;
  void store(const MacTransaction& transaction) override;

  DataIn a_i_;
  DataIn b_i_;
  DataIn acc_i_;
  DataIn rnd_i_;
  DataOut acc_o_;
  DataOut flags_o_;
  DataOut tap_o_;
};

}  // namespace mantissa

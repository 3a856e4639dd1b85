// fp32_fma in SystemC: the MAC datapath with FP32 everywhere.
#pragma once

#include "sim/units/mac_pipeline.hpp"
#include "sim/units/mac_tap.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

constexpr MacConfig fp32_fma_config() { return {.a = formats::fp32, .b = formats::fp32}; }
// Width of the signed exponents on tap_o.
constexpr int fp32_fma_exponent_bits = 10;

class Fp32Fma : public MacPipeline {
 public:
  Fp32Fma(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(MacTransaction& transaction) const override;
  void store(const MacTransaction& transaction) override;

  DataIn a_i_;
  DataIn b_i_;
  DataIn c_i_;
  DataOut z_o_;
  DataOut flags_o_;
  DataOut tap_o_;
};

}  // namespace mantissa

// fp32_add in SystemC: the golden adder stage by stage, with the registers of rtl/fp32_add.sv between.
#pragma once

#include "sim/units/mac_tap.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// Width of the signed exponents on tap_o.
constexpr int fp32_add_exponent_bits = 9;
// The adder is that of a MAC with an FP32 accumulator: a is the accumulator, b the product.
constexpr MacConfig fp32_add_config() { return {}; }
void fp32_add_align(MacState& state, std::uint32_t a, std::uint32_t b);
// tap_o: that of a MAC without the product.
TapLayout fp32_add_tap_layout();
Bits pack_fp32_add_taps(const MacState& state);

struct Fp32AddTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  MacState sum;
};

class Fp32Add : public PipelinedUnit<Fp32AddTransaction> {
 public:
  Fp32Add(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(Fp32AddTransaction& transaction) const override;
  void store(const Fp32AddTransaction& transaction) override;

  DataIn a_i_;
  DataIn b_i_;
  DataOut z_o_;
  DataOut flags_o_;
  DataOut tap_o_;
};

}  // namespace mantissa

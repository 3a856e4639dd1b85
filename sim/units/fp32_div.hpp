// fp32_div in SystemC: the golden quotient, after the cycles that rtl/fp32_div.sv takes.
#pragma once

#include "models/mac/arithmetic.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class Fp32Div : public ClockedUnit {
 public:
  Fp32Div(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"divide"}; }
  void corrupt(std::string_view stage) override;

 private:
  // One per quotient bit, between the cycle that loads and that in which the result stands.
  static constexpr int divide_cycles = 26;

  void evaluate() override;
  void advance() override;
  void reset() override;

  DataIn a_i_;
  DataIn b_i_;
  DataOut z_o_;
  DataOut flags_o_;
  bool corrupt_ = false;
  bool busy_ = false;
  int left_ = 0;  // cycles until the result stands
  Rounded result_;
};

}  // namespace mantissa

// fp8_pe in SystemC: operand registers, one golden step, accumulator register.
#pragma once

#include "models/mac/fp8_pe.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The parameters of rtl/fp8_pe.sv as the golden model wants them.
MacConfig fp8_pe_config(const UnitParameters& parameters);

class Fp8Pe : public ClockedUnit {
 public:
  Fp8Pe(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"accumulate"}; }
  void corrupt(std::string_view stage) override;

 private:
  void evaluate() override;
  void advance() override;
  void reset() override;

  MacConfig config_;
  DataIn clear_i_;
  DataIn a_i_;
  DataIn b_i_;
  DataOut acc_o_;
  bool corrupt_ = false;

  struct Registers {
    bool step = false;  // a and b hold a product that is not yet added
    bool clear = false;
    bool done = false;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t acc = 0;
  };
  Registers now_;
};

}  // namespace mantissa

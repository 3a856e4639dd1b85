// quantizer in SystemC: scale and round, with the register of rtl/quantizer.sv between them.
#pragma once

#include "models/format/convert.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The parameters of rtl/quantizer.sv as the golden model wants them; the scale is a port.
Conversion quantizer_conversion(const UnitParameters& parameters);

struct QuantizerTransaction {
  std::uint32_t x = 0;
  int scale = 0;
  std::uint32_t draw = 0;
  Exact scaled;
  Flags operand_flags;
  Rounded result;
};

class QuantizerUnit : public PipelinedUnit<QuantizerTransaction> {
 public:
  QuantizerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(QuantizerTransaction& transaction) const override;
  void store(const QuantizerTransaction& transaction) override;

  DataIn x_i_;
  DataIn scale_i_;
  DataIn rnd_i_;
  DataOut code_o_;
  DataOut flags_o_;
};

}  // namespace mantissa

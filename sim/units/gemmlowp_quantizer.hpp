// gemmlowp_quantizer in SystemC: the golden model's steps with the registers of rtl/gemmlowp_quantizer.sv.
#pragma once

#include "models/quantize/gemmlowp.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct GemmlowpTransaction {
  float value = 0;      // x, then x - min, then (x - min) * inv
  GemmlowpRange range;  // min and inv count
  std::uint32_t draw = 0;
  GemmlowpCode code;
};

class GemmlowpQuantizerUnit : public PipelinedUnit<GemmlowpTransaction> {
 public:
  GemmlowpQuantizerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(GemmlowpTransaction& transaction) const override;
  void store(const GemmlowpTransaction& transaction) override;

  DataIn x_i_;
  DataIn min_i_;
  DataIn inv_i_;
  DataIn rnd_i_;
  DataOut q_o_;
  DataOut invalid_o_;
};

}  // namespace mantissa

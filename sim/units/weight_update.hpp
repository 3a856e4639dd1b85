// weight_update in SystemC: the golden model's stages with the registers of rtl/weight_update.sv.
#pragma once

#include <variant>

#include "models/update/weight_update.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// Round and UnscaleByFactor of rtl/weight_update.sv.
Rounding weight_update_rounding(const UnitParameters& parameters);
// What unscale_i means: k as -127..128, or the factor.
std::variant<UnscaleByExponent, UnscaleByFactor> unscale_of(std::uint32_t port, bool by_factor);

struct WeightUpdateTransaction {
  std::uint16_t old_weight = 0;
  std::uint32_t old_momentum = 0;  // its bits, also those of a signalling NaN
  bool nonfinite = false;
  bool skip = false;
  std::uint32_t draw = 0;
  WeightUpdateConfig config;
  UpdateState update;
};

class WeightUpdateUnit : public PipelinedUnit<WeightUpdateTransaction> {
 public:
  WeightUpdateUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(WeightUpdateTransaction& transaction) const override;
  void store(const WeightUpdateTransaction& transaction) override;

  Rounding rounding_;
  bool by_factor_;
  DataIn w_i_;
  DataIn m_i_;
  DataIn g_i_;
  DataIn lr_i_;
  DataIn mu_i_;
  DataIn wd_i_;
  DataIn unscale_i_;
  DataIn rnd_i_;
  DataIn skip_i_;
  DataOut w_o_;
  DataOut m_o_;
  DataOut flags_o_;
  DataOut nonfinite_o_;
};

}  // namespace mantissa

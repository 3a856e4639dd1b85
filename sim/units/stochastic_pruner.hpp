// stochastic_pruner in SystemC: the golden model's decision, and the register of rtl/stochastic_pruner.sv.
#pragma once

#include "models/sparsity/pruner.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The parameters of rtl/stochastic_pruner.sv as the golden model wants them; tau is a port. Only the order of
// the codes counts, so the format has the usual bias.
Pruner stochastic_pruner_config(const UnitParameters& parameters);

struct PrunerTransaction {
  std::uint32_t g = 0;
  std::uint32_t tau = 0;
  std::uint32_t draw = 0;
  Pruned result;
};

class StochasticPrunerUnit : public PipelinedUnit<PrunerTransaction> {
 public:
  StochasticPrunerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(PrunerTransaction& transaction) const override;
  void store(const PrunerTransaction& transaction) override;

  DataIn g_i_;
  DataIn tau_i_;
  DataIn rnd_i_;
  DataOut g_o_;
  DataOut nonzero_o_;
  DataOut outcome_o_;
};

}  // namespace mantissa

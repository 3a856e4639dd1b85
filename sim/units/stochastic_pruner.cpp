// stochastic_pruner in SystemC: the golden model's decision, and the register of rtl/stochastic_pruner.sv.
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct PrunerTransaction {
  std::uint32_t g = 0;
  std::uint32_t tau = 0;
  std::uint32_t draw = 0;
  Pruned result;
};

class StochasticPrunerUnit : public PipelinedUnit<PrunerTransaction> {
 public:
  StochasticPrunerUnit(const sc_core::sc_module_name& name, const Pruner& pruner, int pipe_stages)
      : PipelinedUnit(name, {{"prune",
                              [pruner](auto& t) {
                                Pruner with_tau = pruner;
                                with_tau.tau = t.tau;
                                t.result = prune(t.g, with_tau, t.draw);
                              },
                              [](auto& t) { t.result.code ^= 1; }, pipe_stages >= 1}}),
        g_i_(*this, "g_i", pruner.format.bits()),
        tau_i_(*this, "tau_i", pruner.format.bits()),
        rnd_i_(*this, "rnd_i", pruner.random_bits),
        g_o_(*this, "g_o", pruner.format.bits()) {}

 private:
  void load(PrunerTransaction& transaction) const override {
    transaction.g = g_i_.code();
    transaction.tau = tau_i_.code();
    transaction.draw = rnd_i_.code();
  }
  void store(const PrunerTransaction& transaction) override {
    g_o_.put(transaction.result.code);
    nonzero_o_.put(transaction.result.nonzero() ? 1 : 0);
    outcome_o_.put(static_cast<std::uint64_t>(transaction.result.outcome));
  }

  DataIn g_i_;
  DataIn tau_i_;
  DataIn rnd_i_;
  DataOut g_o_;
  DataOut nonzero_o_{*this, "nonzero_o", 1};
  DataOut outcome_o_{*this, "outcome_o", 2};
};

}  // namespace

std::unique_ptr<UnitModule> make_stochastic_pruner(const char* name, const UnitParameters& parameters) {
  return std::make_unique<StochasticPrunerUnit>(name, stochastic_pruner_config(parameters),
                                                parameters.at("PipeStages"));
}

}  // namespace mantissa

#include "sim/units/stochastic_pruner.hpp"

namespace mantissa {

Pruner stochastic_pruner_config(const UnitParameters& parameters) {
  return {.format = parameters.format(""), .random_bits = parameters.at("RndBits")};
}

StochasticPrunerUnit::StochasticPrunerUnit(const sc_core::sc_module_name& name,
                                           const UnitParameters& parameters)
    : PipelinedUnit(name,
                    {{"prune",
                      [pruner = stochastic_pruner_config(parameters)](PrunerTransaction& t) {
                        Pruner with_tau = pruner;
                        with_tau.tau = t.tau;
                        t.result = prune(t.g, with_tau, t.draw);
                      },
                      [](PrunerTransaction& t) { t.result.code ^= 1; }, parameters.at("PipeStages") >= 1}}),
      g_i_(*this, "g_i", parameters.format("").bits()),
      tau_i_(*this, "tau_i", parameters.format("").bits()),
      rnd_i_(*this, "rnd_i", parameters.at("RndBits")),
      g_o_(*this, "g_o", parameters.format("").bits()),
      nonzero_o_(*this, "nonzero_o", 1),
      outcome_o_(*this, "outcome_o", 2) {}

void StochasticPrunerUnit::load(PrunerTransaction& transaction) const {
  transaction.g = static_cast<std::uint32_t>(g_i_.value());
  transaction.tau = static_cast<std::uint32_t>(tau_i_.value());
  transaction.draw = static_cast<std::uint32_t>(rnd_i_.value());
}

void StochasticPrunerUnit::store(const PrunerTransaction& transaction) {
  g_o_.put(transaction.result.code);
  nonzero_o_.put(transaction.result.nonzero() ? 1 : 0);
  outcome_o_.put(static_cast<std::uint64_t>(transaction.result.outcome));
}

}  // namespace mantissa

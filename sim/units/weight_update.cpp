// weight_update in SystemC: the golden model's stages with the registers of rtl/weight_update.sv.
#include "models/update/weight_update.hpp"

#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

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
  WeightUpdateUnit(const sc_core::sc_module_name& name, Rounding rounding, bool by_factor, int pipe_stages)
      : PipelinedUnit(name, {{"unscale", [](auto& t) { update_unscale(t.update, t.config); },
                              [](auto& t) { flip(t.update.gradient); }, pipe_stages >= 4},
                             {"decay", [](auto& t) { update_decay(t.update, t.config); },
                              [](auto& t) { flip(t.update.gradient); }, pipe_stages >= 1},
                             {"momentum", [](auto& t) { update_momentum(t.update, t.config); },
                              [](auto& t) { flip(t.update.momentum); }, pipe_stages >= 2},
                             {"step", [](auto& t) { update_step(t.update, t.config); },
                              [](auto& t) { flip(t.update.next); }, pipe_stages >= 3},
                             {"store", [](auto& t) { update_store(t.update, t.config, t.draw); },
                              [](auto& t) { t.update.weight ^= 1; }, false}}),
        rounding_(rounding),
        by_factor_(by_factor) {}

 private:
  // A bit far above what the later roundings drop.
  static void flip(float& value) { value = fp32_value(fp32_bits(value) ^ (1U << 22)); }

  void load(WeightUpdateTransaction& transaction) const override {
    transaction.update = {.weight = static_cast<std::uint16_t>(w_i_.value()),
                          .momentum = m_i_.number(),
                          .gradient = g_i_.number()};
    transaction.old_weight = transaction.update.weight;
    transaction.old_momentum = m_i_.code();
    transaction.nonfinite = has_nonfinite({&transaction.update.gradient, 1});
    transaction.skip = skip_i_.value() != 0;
    transaction.draw = rnd_i_.code();
    transaction.config = {.learning_rate = lr_i_.number(),
                          .momentum = mu_i_.number(),
                          .weight_decay = wd_i_.number(),
                          .unscale = unscale_of(unscale_i_.code(), by_factor_),
                          .rounding = rounding_};
  }
  void store(const WeightUpdateTransaction& transaction) override {
    const UpdateState& update = transaction.update;
    const bool skip = transaction.skip;
    w_o_.put(skip ? transaction.old_weight : update.weight);
    m_o_.put(skip ? transaction.old_momentum : fp32_bits(update.momentum));
    flags_o_.put(skip ? 0 : update.flags.bits());
    nonfinite_o_.put(transaction.nonfinite ? 1 : 0);
  }

  Rounding rounding_;
  bool by_factor_;
  DataIn w_i_{*this, "w_i", 16};
  DataIn m_i_{*this, "m_i", 32};
  DataIn g_i_{*this, "g_i", 32};
  DataIn lr_i_{*this, "lr_i", 32};
  DataIn mu_i_{*this, "mu_i", 32};
  DataIn wd_i_{*this, "wd_i", 32};
  DataIn unscale_i_{*this, "unscale_i", by_factor_ ? 32 : 8};
  DataIn rnd_i_{*this, "rnd_i", random_port_bits(rounding_)};
  DataIn skip_i_{*this, "skip_i", 1};
  DataOut w_o_{*this, "w_o", 16};
  DataOut m_o_{*this, "m_o", 32};
  DataOut flags_o_{*this, "flags_o", 5};
  DataOut nonfinite_o_{*this, "nonfinite_o", 1};
};

}  // namespace

std::unique_ptr<UnitModule> make_weight_update(const char* name, const UnitParameters& parameters) {
  return std::make_unique<WeightUpdateUnit>(name, weight_update_rounding(parameters),
                                            parameters.at("UnscaleByFactor") != 0,
                                            parameters.at("PipeStages"));
}

}  // namespace mantissa

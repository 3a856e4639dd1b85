#include "sim/units/weight_update.hpp"

#include "models/format/convert.hpp"

namespace mantissa {
namespace {

// Flips a bit far above what the later roundings drop.
void flip(float& value) { value = fp32_value(fp32_bits(value) ^ (1U << 22)); }

float float_at(const DataIn& port) { return fp32_value(static_cast<std::uint32_t>(port.value())); }

}  // namespace

Rounding weight_update_rounding(const UnitParameters& parameters) {
  const Rounding rounding = parameters.rounding("Round");
  return rounding.stochastic() ? Rounding::sr(13) : rounding;
}

std::variant<UnscaleByExponent, UnscaleByFactor> unscale_of(std::uint32_t port, bool by_factor) {
  if (by_factor) return UnscaleByFactor{fp32_value(port)};
  // Modulo 256: -k is a signed byte for every k of -127..128.
  return UnscaleByExponent{-static_cast<std::int8_t>(0U - port)};
}

WeightUpdateUnit::WeightUpdateUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(
          name,
          {{"unscale", [](WeightUpdateTransaction& t) { update_unscale(t.update, t.config); },
            [](WeightUpdateTransaction& t) { flip(t.update.gradient); }, parameters.at("PipeStages") >= 4},
           {"decay", [](WeightUpdateTransaction& t) { update_decay(t.update, t.config); },
            [](WeightUpdateTransaction& t) { flip(t.update.gradient); }, parameters.at("PipeStages") >= 1},
           {"momentum", [](WeightUpdateTransaction& t) { update_momentum(t.update, t.config); },
            [](WeightUpdateTransaction& t) { flip(t.update.momentum); }, parameters.at("PipeStages") >= 2},
           {"step", [](WeightUpdateTransaction& t) { update_step(t.update, t.config); },
            [](WeightUpdateTransaction& t) { flip(t.update.next); }, parameters.at("PipeStages") >= 3},
           {"store", [](WeightUpdateTransaction& t) { update_store(t.update, t.config, t.draw); },
            [](WeightUpdateTransaction& t) { t.update.weight ^= 1; }, false}}),
      rounding_(weight_update_rounding(parameters)),
      by_factor_(parameters.at("UnscaleByFactor") != 0),
      w_i_(*this, "w_i", 16),
      m_i_(*this, "m_i", 32),
      g_i_(*this, "g_i", 32),
      lr_i_(*this, "lr_i", 32),
      mu_i_(*this, "mu_i", 32),
      wd_i_(*this, "wd_i", 32),
      unscale_i_(*this, "unscale_i", by_factor_ ? 32 : 8),
      rnd_i_(*this, "rnd_i", random_port_bits(rounding_)),
      skip_i_(*this, "skip_i", 1),
      w_o_(*this, "w_o", 16),
      m_o_(*this, "m_o", 32),
      flags_o_(*this, "flags_o", 5),
      nonfinite_o_(*this, "nonfinite_o", 1) {}

void WeightUpdateUnit::load(WeightUpdateTransaction& transaction) const {
  transaction.update = {.weight = static_cast<std::uint16_t>(w_i_.value()),
                        .momentum = float_at(m_i_),
                        .gradient = float_at(g_i_)};
  transaction.old_weight = transaction.update.weight;
  transaction.old_momentum = static_cast<std::uint32_t>(m_i_.value());
  transaction.nonfinite = has_nonfinite({&transaction.update.gradient, 1});
  transaction.skip = skip_i_.value() != 0;
  transaction.draw = static_cast<std::uint32_t>(rnd_i_.value());
  transaction.config = {.learning_rate = float_at(lr_i_),
                        .momentum = float_at(mu_i_),
                        .weight_decay = float_at(wd_i_),
                        .unscale = unscale_of(static_cast<std::uint32_t>(unscale_i_.value()), by_factor_),
                        .rounding = rounding_};
}

void WeightUpdateUnit::store(const WeightUpdateTransaction& transaction) {
  const UpdateState& update = transaction.update;
  const bool skip = transaction.skip;
  w_o_.put(skip ? transaction.old_weight : update.weight);
  m_o_.put(skip ? transaction.old_momentum : fp32_bits(update.momentum));
  flags_o_.put(skip ? 0 : update.flags.bits());
  nonfinite_o_.put(transaction.nonfinite ? 1 : 0);
}

}  // namespace mantissa

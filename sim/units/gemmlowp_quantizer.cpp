#include "sim/units/gemmlowp_quantizer.hpp"

#include "models/format/convert.hpp"

namespace mantissa {
namespace {

// Half or double the value: no rounding to an integer overlooks that.
void flip_exponent(GemmlowpTransaction& t) { t.value = fp32_value(fp32_bits(t.value) ^ (1U << 23)); }

}  // namespace

GemmlowpQuantizerUnit::GemmlowpQuantizerUnit(const sc_core::sc_module_name& name,
                                             const UnitParameters& parameters)
    : PipelinedUnit(
          name, {{"subtract", [](GemmlowpTransaction& t) { t.value = gemmlowp_offset(t.value, t.range); },
                  flip_exponent, parameters.at("PipeStages") >= 2},
                 {"multiply", [](GemmlowpTransaction& t) { t.value = gemmlowp_steps(t.value, t.range); },
                  flip_exponent, parameters.at("PipeStages") >= 1},
                 {"round",
                  [bits = parameters.at("Bits"), rounding = parameters.rounding("Round")](
                      GemmlowpTransaction& t) { t.code = gemmlowp_round(t.value, bits, rounding, t.draw); },
                  [](GemmlowpTransaction& t) { t.code.q ^= 1; }, false}}),
      x_i_(*this, "x_i", 32),
      min_i_(*this, "min_i", 32),
      inv_i_(*this, "inv_i", 32),
      rnd_i_(*this, "rnd_i", random_port_bits(parameters.rounding("Round"))),
      q_o_(*this, "q_o", parameters.at("Bits")),
      invalid_o_(*this, "invalid_o", 1) {}

void GemmlowpQuantizerUnit::load(GemmlowpTransaction& transaction) const {
  transaction.value = fp32_value(static_cast<std::uint32_t>(x_i_.value()));
  transaction.range.min = fp32_value(static_cast<std::uint32_t>(min_i_.value()));
  transaction.range.inv = fp32_value(static_cast<std::uint32_t>(inv_i_.value()));
  transaction.draw = static_cast<std::uint32_t>(rnd_i_.value());
}

void GemmlowpQuantizerUnit::store(const GemmlowpTransaction& transaction) {
  q_o_.put(transaction.code.q);
  invalid_o_.put(transaction.code.invalid ? 1 : 0);
}

}  // namespace mantissa

#include "sim/units/quantizer.hpp"

namespace mantissa {
namespace {

void scale(QuantizerTransaction& t) {
  t.scaled = decode(t.x, formats::fp32, t.operand_flags).scaled(t.scale);
}

}  // namespace

Conversion quantizer_conversion(const UnitParameters& parameters) {
  return {.to = parameters.format(""),
          .rounding = parameters.rounding("Round"),
          .overflow = parameters.at("Saturate") != 0 ? Overflow::saturate : Overflow::ieee};
}

QuantizerUnit::QuantizerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(name, {{"scale", scale, [](QuantizerTransaction& t) { t.scaled.exponent ^= 1; },
                            parameters.at("PipeStages") >= 1},
                           {"round",
                            [how = quantizer_conversion(parameters)](QuantizerTransaction& t) {
                              t.result = round(t.scaled, how.to, how.rounding, t.draw, how.overflow);
                              t.result.flags |= t.operand_flags;
                            },
                            [](QuantizerTransaction& t) { t.result.code ^= 1; }, false}}),
      x_i_(*this, "x_i", 32),
      scale_i_(*this, "scale_i", 8),
      rnd_i_(*this, "rnd_i", random_port_bits(parameters.rounding("Round"))),
      code_o_(*this, "code_o", parameters.format("").bits()),
      flags_o_(*this, "flags_o", 5) {}

void QuantizerUnit::load(QuantizerTransaction& transaction) const {
  transaction.x = static_cast<std::uint32_t>(x_i_.value());
  transaction.scale = static_cast<int>(scale_i_.value() ^ 0x80U) - 0x80;  // two's complement
  transaction.draw = static_cast<std::uint32_t>(rnd_i_.value());
}

void QuantizerUnit::store(const QuantizerTransaction& transaction) {
  code_o_.put(transaction.result.code);
  flags_o_.put(transaction.result.flags.bits());
}

}  // namespace mantissa

#include "sim/units/fp8_pe.hpp"

namespace mantissa {

MacConfig fp8_pe_config(const UnitParameters& parameters) {
  return {parameters.format("A"), parameters.format("B"), parameters.format("Acc")};
}

Fp8Pe::Fp8Pe(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name, Follows::nothing),
      config_(fp8_pe_config(parameters)),
      clear_i_(*this, "clear_i", 1),
      a_i_(*this, "a_i", config_.a.bits()),
      b_i_(*this, "b_i", config_.b.bits()),
      acc_o_(*this, "acc_o", config_.acc.bits()) {}

void Fp8Pe::corrupt(std::string_view /*stage*/) { corrupt_ = true; }

void Fp8Pe::evaluate() {
  ready_o.write(true);
  valid_o.write(now_.done);
  acc_o_.put(now_.acc);
}

void Fp8Pe::reset() { now_ = {}; }

void Fp8Pe::advance() {
  Registers next = now_;
  if (now_.clear) next.acc = 0;
  if (now_.step) {
    next.acc = fp8_pe(now_.a, now_.b, next.acc, config_);
    if (corrupt_) next.acc ^= 1;
  }
  next.done = now_.step;
  next.clear = clear_i_.value() != 0;
  next.step = valid_i.read();
  if (next.step) {
    next.a = static_cast<std::uint32_t>(a_i_.value());
    next.b = static_cast<std::uint32_t>(b_i_.value());
  }
  now_ = next;
}

}  // namespace mantissa

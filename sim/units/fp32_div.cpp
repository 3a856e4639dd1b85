#include "sim/units/fp32_div.hpp"

namespace mantissa {

Fp32Div::Fp32Div(const sc_core::sc_module_name& name, const UnitParameters& /*parameters*/)
    : ClockedUnit(name, Follows::nothing),
      a_i_(*this, "a_i", 32),
      b_i_(*this, "b_i", 32),
      z_o_(*this, "z_o", 32),
      flags_o_(*this, "flags_o", 5) {}

void Fp32Div::corrupt(std::string_view /*stage*/) { corrupt_ = true; }

void Fp32Div::evaluate() {
  ready_o.write(!busy_);
  valid_o.write(busy_ && left_ == 0);
  if (!busy_ || left_ != 0) return;
  z_o_.put(result_.code);
  flags_o_.put(result_.flags.bits());
}

void Fp32Div::reset() { busy_ = false; }

void Fp32Div::advance() {
  if (!busy_) {
    if (valid_i.read()) {
      busy_ = true;
      left_ = divide_cycles;
      result_ = fp32_div(static_cast<std::uint32_t>(a_i_.value()), static_cast<std::uint32_t>(b_i_.value()));
      if (corrupt_) result_.code ^= 1;
    }
  } else if (left_ != 0) {
    --left_;
  } else if (ready_i.read()) {
    busy_ = false;
  }
}

}  // namespace mantissa

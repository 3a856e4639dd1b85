#include "sim/units/fp32_div.hpp"

namespace mantissa {

Fp32Div::Fp32Div(const sc_core::sc_module_name& name, const UnitParameters& /*parameters*/)
    : UnitModule(name),
      a_i_(*this, "a_i", 32),
      b_i_(*this, "b_i", 32),
      z_o_(*this, "z_o", 32),
      flags_o_(*this, "flags_o", 5) {}

void Fp32Div::before_end_of_elaboration() {
  SC_HAS_PROCESS(Fp32Div);
  SC_METHOD(advance);
  sensitive << clk_i.pos() << rst_ni.neg();
  dont_initialize();
  SC_METHOD(evaluate);
  sensitive << moved_;
}

void Fp32Div::corrupt(std::string_view /*stage*/) { corrupt_ = true; }

void Fp32Div::evaluate() {
  ready_o.write(!busy_);
  valid_o.write(busy_ && left_ == 0);
  if (!busy_ || left_ != 0) return;
  z_o_.put(result_.code);
  flags_o_.put(result_.flags.bits());
}

void Fp32Div::advance() {
  if (!rst_ni.read()) {
    busy_ = false;
  } else if (!busy_) {
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
  moved_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace mantissa

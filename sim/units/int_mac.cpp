#include "sim/units/int_mac.hpp"

namespace mantissa {

IntMac::IntMac(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(
          name, {{"sum",
                  [b_bits = parameters.at("BWidth"), acc_bits = parameters.at("AccBits")](
                      IntMacTransaction& t) { t.sum = int_mac_wrapping(t.a, t.b, t.acc, b_bits, acc_bits); },
                  [](IntMacTransaction& t) { t.sum.acc ^= 1U << 15; }, parameters.at("PipeStages") >= 1}}),
      clear_i_(*this, "clear_i", 1),
      a_i_(*this, "a_i", 8),
      b_i_(*this, "b_i", parameters.at("BWidth")),
      acc_i_(*this, "acc_i", parameters.at("AccBits")),
      acc_o_(*this, "acc_o", parameters.at("AccBits")),
      overflow_o_(*this, "overflow_o", 1) {}

void IntMac::load(IntMacTransaction& transaction) const {
  transaction.clear = clear_i_.value() != 0;
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
  transaction.acc = acc_i_.value();
}

void IntMac::store(const IntMacTransaction& transaction) {
  acc_o_.put(transaction.sum.acc);
  overflow_o_.put(overflow(transaction) ? 1 : 0);
}

void IntMac::taken(const IntMacTransaction& transaction) { sticky_ = overflow(transaction); }

}  // namespace mantissa

// int_mac in SystemC: the golden wrapping sum, with the register of rtl/int_mac.sv after the product, and the
// memory of what wrapped.
#pragma once

#include "models/mac/int_mac.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct IntMacTransaction {
  bool clear = false;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint64_t acc = 0;
  WrappedSum sum;
};

class IntMac : public PipelinedUnit<IntMacTransaction> {
 public:
  IntMac(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(IntMacTransaction& transaction) const override;
  void store(const IntMacTransaction& transaction) override;
  void taken(const IntMacTransaction& transaction) override;
  void reset() override { sticky_ = false; }

  bool overflow(const IntMacTransaction& transaction) const {
    return transaction.sum.wrapped || (sticky_ && !transaction.clear);
  }

  DataIn clear_i_;
  DataIn a_i_;
  DataIn b_i_;
  DataIn acc_i_;
  DataOut acc_o_;
  DataOut overflow_o_;
  bool sticky_ = false;
};

}  // namespace mantissa

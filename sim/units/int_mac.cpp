// int_mac in SystemC: the golden wrapping sum, with the register of rtl/int_mac.sv after the product, and the
// memory of what wrapped.
#include "models/mac/int_mac.hpp"

#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct IntMacTransaction {
  bool clear = false;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint64_t acc = 0;
  WrappedSum sum;
};

class IntMac : public PipelinedUnit<IntMacTransaction> {
 public:
  IntMac(const sc_core::sc_module_name& name, int b_bits, int acc_bits, int pipe_stages)
      : PipelinedUnit(
            name,
            {{"sum",
              [b_bits, acc_bits](auto& t) { t.sum = int_mac_wrapping(t.a, t.b, t.acc, b_bits, acc_bits); },
              [](auto& t) { t.sum.acc ^= 1U << 15; }, pipe_stages >= 1}}),
        b_i_(*this, "b_i", b_bits),
        acc_i_(*this, "acc_i", acc_bits),
        acc_o_(*this, "acc_o", acc_bits) {}

 private:
  void load(IntMacTransaction& transaction) const override {
    transaction.clear = clear_i_.value() != 0;
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
    transaction.acc = acc_i_.value();
  }
  void store(const IntMacTransaction& transaction) override {
    acc_o_.put(transaction.sum.acc);
    overflow_o_.put(overflow(transaction) ? 1 : 0);
  }
  void taken(const IntMacTransaction& transaction) override { sticky_ = overflow(transaction); }
  void reset() override { sticky_ = false; }

  bool overflow(const IntMacTransaction& transaction) const {
    return transaction.sum.wrapped || (sticky_ && !transaction.clear);
  }

  DataIn clear_i_{*this, "clear_i", 1};
  DataIn a_i_{*this, "a_i", 8};
  DataIn b_i_;
  DataIn acc_i_;
  DataOut acc_o_;
  DataOut overflow_o_{*this, "overflow_o", 1};
  bool sticky_ = false;
};

}  // namespace

std::unique_ptr<UnitModule> make_int_mac(const char* name, const UnitParameters& parameters) {
  return std::make_unique<IntMac>(name, parameters.at("BWidth"), parameters.at("AccBits"),
                                  parameters.at("PipeStages"));
}

}  // namespace mantissa

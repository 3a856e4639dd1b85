// fp32_div in SystemC: the golden quotient, after the cycles that rtl/fp32_div.sv takes.
#include "models/mac/arithmetic.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class Fp32Div : public ClockedUnit {
 public:
  explicit Fp32Div(const sc_core::sc_module_name& name) : ClockedUnit(name, Follows::nothing) {}

  std::vector<std::string> stages() const override { return {"divide"}; }

 private:
  // One per quotient bit, between the cycle that loads and that in which the result stands.
  static constexpr int divide_cycles = 26;

  void evaluate() override {
    ready_o.write(!busy_);
    valid_o.write(busy_ && left_ == 0);
    if (!busy_ || left_ != 0) return;
    z_o_.put(result_.code);
    flags_o_.put(result_.flags.bits());
  }

  void advance() override {
    if (!busy_) {
      if (valid_i.read()) {
        busy_ = true;
        left_ = divide_cycles;
        result_ = fp32_div(a_i_.code(), b_i_.code());
        if (corrupted("divide")) result_.code ^= 1;
      }
    } else if (left_ != 0) {
      --left_;
    } else if (ready_i.read()) {
      busy_ = false;
    }
  }

  void reset() override { busy_ = false; }

  DataIn a_i_{*this, "a_i", 32};
  DataIn b_i_{*this, "b_i", 32};
  DataOut z_o_{*this, "z_o", 32};
  DataOut flags_o_{*this, "flags_o", 5};
  bool busy_ = false;
  int left_ = 0;  // cycles until the result stands
  Rounded result_;
};

}  // namespace

std::unique_ptr<UnitModule> make_fp32_div(const char* name, const UnitParameters& /*parameters*/) {
  return std::make_unique<Fp32Div>(name);
}

}  // namespace mantissa

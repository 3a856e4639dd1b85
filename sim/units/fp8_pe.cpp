// fp8_pe in SystemC: operand registers, one golden step, accumulator register.
#include "models/mac/fp8_pe.hpp"

#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class Fp8Pe : public ClockedUnit {
 public:
  Fp8Pe(const sc_core::sc_module_name& name, const MacConfig& config)
      : ClockedUnit(name, Follows::nothing), config_(config) {}

  std::vector<std::string> stages() const override { return {"accumulate"}; }

 private:
  struct Registers {
    bool step = false;  // a and b hold a product that is not yet added
    bool clear = false;
    bool done = false;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t acc = 0;
  };

  void evaluate() override {
    ready_o.write(true);
    valid_o.write(now_.done);
    acc_o_.put(now_.acc);
  }

  void advance() override {
    Registers next = now_;
    if (now_.clear) next.acc = 0;
    if (now_.step) {
      next.acc = fp8_pe(now_.a, now_.b, next.acc, config_);
      if (corrupted("accumulate")) next.acc ^= 1;
    }
    next.done = now_.step;
    next.clear = clear_i_.value() != 0;
    next.step = valid_i.read();
    if (next.step) {
      next.a = a_i_.code();
      next.b = b_i_.code();
    }
    now_ = next;
  }

  void reset() override { now_ = {}; }

  MacConfig config_;
  DataIn clear_i_{*this, "clear_i", 1};
  DataIn a_i_{*this, "a_i", config_.a.bits()};
  DataIn b_i_{*this, "b_i", config_.b.bits()};
  DataOut acc_o_{*this, "acc_o", config_.acc.bits()};
  Registers now_;
};

}  // namespace

std::unique_ptr<UnitModule> make_fp8_pe(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp8Pe>(name, fp8_pe_config(parameters));
}

}  // namespace mantissa

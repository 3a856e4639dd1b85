// quantizer in SystemC: scale and round, with the register of rtl/quantizer.sv between them.
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct QuantizerTransaction {
  std::uint32_t x = 0;
  int scale = 0;
  std::uint32_t draw = 0;
  Exact scaled;
  Flags operand_flags;
  Rounded result;
};

class QuantizerUnit : public PipelinedUnit<QuantizerTransaction> {
 public:
  QuantizerUnit(const sc_core::sc_module_name& name, const Conversion& how, int pipe_stages)
      : PipelinedUnit(
            name, {{"scale",
                    [](auto& t) { t.scaled = decode(t.x, formats::fp32, t.operand_flags).scaled(t.scale); },
                    [](auto& t) { t.scaled.exponent ^= 1; }, pipe_stages >= 1},
                   {"round",
                    [how](auto& t) {
                      t.result = round(t.scaled, how.to, how.rounding, t.draw, how.overflow);
                      t.result.flags |= t.operand_flags;
                    },
                    [](auto& t) { t.result.code ^= 1; }, false}}),
        rnd_i_(*this, "rnd_i", random_port_bits(how.rounding)),
        code_o_(*this, "code_o", how.to.bits()) {}

 private:
  void load(QuantizerTransaction& transaction) const override {
    transaction.x = x_i_.code();
    transaction.scale = scale_i_.signed_byte();
    transaction.draw = rnd_i_.code();
  }
  void store(const QuantizerTransaction& transaction) override {
    code_o_.put(transaction.result.code);
    flags_o_.put(transaction.result.flags.bits());
  }

  DataIn x_i_{*this, "x_i", 32};
  DataIn scale_i_{*this, "scale_i", 8};
  DataIn rnd_i_;
  DataOut code_o_;
  DataOut flags_o_{*this, "flags_o", 5};
};

}  // namespace

std::unique_ptr<UnitModule> make_quantizer(const char* name, const UnitParameters& parameters) {
  return std::make_unique<QuantizerUnit>(name, quantizer_conversion(parameters), parameters.at("PipeStages"));
}

}  // namespace mantissa

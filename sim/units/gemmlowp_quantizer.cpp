// gemmlowp_quantizer in SystemC: the golden model's steps with the registers of rtl/gemmlowp_quantizer.sv.
#include "models/quantize/gemmlowp.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct GemmlowpTransaction {
  float value = 0;      // x, then x - min, then (x - min) * inv
  GemmlowpRange range;  // min and inv count
  std::uint32_t draw = 0;
  GemmlowpCode code;
};

class GemmlowpQuantizerUnit : public PipelinedUnit<GemmlowpTransaction> {
 public:
  GemmlowpQuantizerUnit(const sc_core::sc_module_name& name, int bits, Rounding rounding, int pipe_stages)
      : PipelinedUnit(
            name, {{"subtract", [](auto& t) { t.value = gemmlowp_offset(t.value, t.range); }, flip_exponent,
                    pipe_stages >= 2},
                   {"multiply", [](auto& t) { t.value = gemmlowp_steps(t.value, t.range); }, flip_exponent,
                    pipe_stages >= 1},
                   {"round",
                    [bits, rounding](auto& t) { t.code = gemmlowp_round(t.value, bits, rounding, t.draw); },
                    [](auto& t) { t.code.q ^= 1; }, false}}),
        rnd_i_(*this, "rnd_i", random_port_bits(rounding)),
        q_o_(*this, "q_o", bits) {}

 private:
  // Half or double the value: no rounding to an integer overlooks that.
  static void flip_exponent(GemmlowpTransaction& t) { t.value = fp32_value(fp32_bits(t.value) ^ (1U << 23)); }

  void load(GemmlowpTransaction& transaction) const override {
    transaction.value = x_i_.number();
    transaction.range.min = min_i_.number();
    transaction.range.inv = inv_i_.number();
    transaction.draw = rnd_i_.code();
  }
  void store(const GemmlowpTransaction& transaction) override {
    q_o_.put(transaction.code.q);
    invalid_o_.put(transaction.code.invalid ? 1 : 0);
  }

  DataIn x_i_{*this, "x_i", 32};
  DataIn min_i_{*this, "min_i", 32};
  DataIn inv_i_{*this, "inv_i", 32};
  DataIn rnd_i_;
  DataOut q_o_;
  DataOut invalid_o_{*this, "invalid_o", 1};
};

}  // namespace

std::unique_ptr<UnitModule> make_gemmlowp_quantizer(const char* name, const UnitParameters& parameters) {
  return std::make_unique<GemmlowpQuantizerUnit>(name, parameters.at("Bits"), parameters.rounding("Round"),
                                                 parameters.at("PipeStages"));
}

}  // namespace mantissa

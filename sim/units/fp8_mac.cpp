// fp8_mac in SystemC: the golden model's stages with the registers of rtl/fp8_mac.sv between them.
#include "sim/units/mac_pipeline.hpp"
#include "sim/units/mac_tap.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class Fp8Mac : public MacPipeline {
 public:
  Fp8Mac(const sc_core::sc_module_name& name, const UnitParameters& parameters)
      : MacPipeline(name, fp8_mac_config(parameters), parameters.at("PipeStages")) {}

 private:
  void load(MacTransaction& transaction) const override {
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
    transaction.acc = acc_i_.code();
    transaction.draw = rnd_i_.code();
  }
  void store(const MacTransaction& transaction) override {
    acc_o_.put(transaction.mac.code);
    flags_o_.put(transaction.mac.flags.bits());
    tap_o_.write(pack_mac_taps(transaction.mac, fp8_mac_datapath(config())));
  }

  DataIn a_i_{*this, "a_i", config().a.bits()};
  DataIn b_i_{*this, "b_i", config().b.bits()};
  DataIn acc_i_{*this, "acc_i", config().acc.bits()};
  DataIn rnd_i_{*this, "rnd_i", random_port_bits(config().rounding)};
  DataOut acc_o_{*this, "acc_o", config().acc.bits()};
  DataOut flags_o_{*this, "flags_o", 5};
  DataOut tap_o_{*this, "tap_o", tap_bits(mac_tap_layout(fp8_mac_datapath(config())))};
};

}  // namespace

std::unique_ptr<UnitModule> make_fp8_mac(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp8Mac>(name, parameters);
}

}  // namespace mantissa

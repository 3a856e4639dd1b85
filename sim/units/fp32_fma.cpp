// fp32_fma in SystemC: the MAC datapath with FP32 everywhere.
#include "sim/units/mac_pipeline.hpp"
#include "sim/units/mac_tap.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class Fp32Fma : public MacPipeline {
 public:
  Fp32Fma(const sc_core::sc_module_name& name, int pipe_stages)
      : MacPipeline(name, fp32_fma_datapath.config, pipe_stages) {}

 private:
  void load(MacTransaction& transaction) const override {
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
    transaction.acc = c_i_.code();
  }
  void store(const MacTransaction& transaction) override {
    z_o_.put(transaction.mac.code);
    flags_o_.put(transaction.mac.flags.bits());
    tap_o_.write(pack_mac_taps(transaction.mac, fp32_fma_datapath));
  }

  DataIn a_i_{*this, "a_i", 32};
  DataIn b_i_{*this, "b_i", 32};
  DataIn c_i_{*this, "c_i", 32};
  DataOut z_o_{*this, "z_o", 32};
  DataOut flags_o_{*this, "flags_o", 5};
  DataOut tap_o_{*this, "tap_o", tap_bits(mac_tap_layout(fp32_fma_datapath))};
};

}  // namespace

std::unique_ptr<UnitModule> make_fp32_fma(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp32Fma>(name, parameters.at("PipeStages"));
}

}  // namespace mantissa

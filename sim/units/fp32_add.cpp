// fp32_add in SystemC: the golden adder stage by stage, with the registers of rtl/fp32_add.sv between.
#include "sim/units/mac_tap.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct Fp32AddTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  MacState sum;
};

class Fp32Add : public PipelinedUnit<Fp32AddTransaction> {
 public:
  Fp32Add(const sc_core::sc_module_name& name, int pipe_stages)
      : PipelinedUnit(name,
                      {{"align", [](auto& t) { fp32_add_align(t.sum, t.a, t.b); },
                        [](auto& t) { t.sum.alignment.aligned ^= 8; }, pipe_stages >= 1},
                       {"normalise", [](auto& t) { mac_add(t.sum, fp32_add_datapath.config); },
                        [](auto& t) { t.sum.sum.significand ^= std::uint64_t{1} << 60; }, pipe_stages >= 2},
                       {"round", [](auto& t) { mac_round(t.sum, fp32_add_datapath.config, 0); },
                        [](auto& t) { t.sum.code ^= 1; }, false}}) {}

 private:
  void load(Fp32AddTransaction& transaction) const override {
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
  }
  void store(const Fp32AddTransaction& transaction) override {
    z_o_.put(transaction.sum.code);
    flags_o_.put(transaction.sum.flags.bits());
    tap_o_.write(pack_mac_taps(transaction.sum, fp32_add_datapath));
  }

  DataIn a_i_{*this, "a_i", 32};
  DataIn b_i_{*this, "b_i", 32};
  DataOut z_o_{*this, "z_o", 32};
  DataOut flags_o_{*this, "flags_o", 5};
  DataOut tap_o_{*this, "tap_o", tap_bits(mac_tap_layout(fp32_add_datapath))};
};

}  // namespace

std::unique_ptr<UnitModule> make_fp32_add(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp32Add>(name, parameters.at("PipeStages"));
}

}  // namespace mantissa

#include "sim/units/fp32_add.hpp"

namespace mantissa {
namespace {

constexpr MacConfig config = fp32_add_config();

}  // namespace

void fp32_add_align(MacState& state, std::uint32_t a, std::uint32_t b) {
  state.product = decode(b, formats::fp32, state.flags);
  mac_align(state, a, config);
}

TapLayout fp32_add_tap_layout() {
  TapLayout layout = mac_tap_layout(config, fp32_add_exponent_bits);
  std::erase_if(layout, [](const TapField& field) { return field.stage == "product"; });
  return layout;
}

Bits pack_fp32_add_taps(const MacState& state) {
  const Bits all = pack_mac_taps(mac_taps(state, config), config, fp32_add_exponent_bits);
  const TapLayout layout = fp32_add_tap_layout();
  int low = tap_bits(layout);
  BitsPacker packer(low);
  for (const TapField& field : layout) {
    low -= field.bits;
    packer.put(field.bits, all.field(low, field.bits));
  }
  return packer.bits();
}

Fp32Add::Fp32Add(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(name, {{"align", [](Fp32AddTransaction& t) { fp32_add_align(t.sum, t.a, t.b); },
                            [](Fp32AddTransaction& t) { t.sum.alignment.aligned ^= 8; },
                            parameters.at("PipeStages") >= 1},
                           {"normalise", [](Fp32AddTransaction& t) { mac_add(t.sum, config); },
                            [](Fp32AddTransaction& t) { t.sum.sum.significand ^= std::uint64_t{1} << 60; },
                            parameters.at("PipeStages") >= 2},
                           {"round", [](Fp32AddTransaction& t) { mac_round(t.sum, config, 0); },
                            [](Fp32AddTransaction& t) { t.sum.code ^= 1; }, false}}),
      a_i_(*this, "a_i", 32),
      b_i_(*this, "b_i", 32),
      z_o_(*this, "z_o", 32),
      flags_o_(*this, "flags_o", 5),
      tap_o_(*this, "tap_o", tap_bits(fp32_add_tap_layout())) {}

void Fp32Add::load(Fp32AddTransaction& transaction) const {
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
}

void Fp32Add::store(const Fp32AddTransaction& transaction) {
  z_o_.put(transaction.sum.code);
  flags_o_.put(transaction.sum.flags.bits());
  tap_o_.write(pack_fp32_add_taps(transaction.sum));
}

}  // namespace mantissa

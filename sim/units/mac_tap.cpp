#include "sim/units/mac_tap.hpp"

#include <array>
#include <span>

namespace mantissa {

void fp32_add_align(MacState& state, std::uint32_t a, std::uint32_t b) {
  state.product = decode(b, formats::fp32, state.flags);
  mac_align(state, a, fp32_add_datapath.config);
}

TapLayout mac_tap_layout(const MacDatapath& datapath) {
  const MacConfig& config = datapath.config;
  const int frame = config.frame_bits();
  TapLayout layout = {{"product", "negative", 1},
                      {"product", "exponent", datapath.exponent_bits},
                      {"product", "significand", product_bits(config.a, config.b)},
                      {"align", "shift", datapath.exponent_bits},
                      {"align", "subtract", 1},
                      {"align", "larger", frame},
                      {"align", "aligned", frame},
                      {"sum", "sum", frame + 1},
                      {"normalise", "negative", 1},
                      {"normalise", "exponent", datapath.exponent_bits},
                      {"normalise", "significand", frame},
                      {"round", "code", config.acc.bits()}};
  if (!datapath.multiplies) {
    std::erase_if(layout, [](const TapField& field) { return field.stage == "product"; });
  }
  return layout;
}

int tap_bits(const TapLayout& layout) {
  int bits = 0;
  for (const TapField& field : layout) bits += field.bits;
  return bits;
}

Bits pack_mac_taps(const MacState& state, const MacDatapath& datapath) {
  const MacTaps taps = mac_taps(state, datapath.config);
  const std::array<std::uint64_t, 12> values = {
      taps.product.negative,       static_cast<std::uint64_t>(taps.product.exponent),
      taps.product.significand,    static_cast<std::uint64_t>(taps.align.shift),
      taps.align.subtract,         taps.align.larger,
      taps.align.aligned,          taps.sum,
      taps.normalised.negative,    static_cast<std::uint64_t>(taps.normalised.exponent),
      taps.normalised.significand, taps.rounded};
  const TapLayout layout = mac_tap_layout(datapath);
  const auto shown = std::span(values).last(layout.size());  // the product stands first
  BitsPacker packer(tap_bits(layout));
  for (std::size_t i = 0; i < layout.size(); ++i) packer.put(layout[i].bits, shown[i]);
  return packer.bits();
}

int first_difference(const TapLayout& layout, const Bits& expected, const Bits& actual) {
  int low = tap_bits(layout);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    low -= layout[i].bits;
    if (expected.field(low, layout[i].bits) != actual.field(low, layout[i].bits)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace mantissa

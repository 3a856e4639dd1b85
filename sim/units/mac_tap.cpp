#include "sim/units/mac_tap.hpp"

namespace mantissa {

TapLayout mac_tap_layout(const MacConfig& config, int exponent_bits) {
  const int frame = config.frame_bits();
  return {{"product", "negative", 1},
          {"product", "exponent", exponent_bits},
          {"product", "significand", product_bits(config.a, config.b)},
          {"align", "shift", exponent_bits},
          {"align", "subtract", 1},
          {"align", "larger", frame},
          {"align", "aligned", frame},
          {"sum", "sum", frame + 1},
          {"normalise", "negative", 1},
          {"normalise", "exponent", exponent_bits},
          {"normalise", "significand", frame},
          {"round", "code", config.acc.bits()}};
}

int tap_bits(const TapLayout& layout) {
  int bits = 0;
  for (const TapField& field : layout) bits += field.bits;
  return bits;
}

Bits pack_mac_taps(const MacTaps& taps, const MacConfig& config, int exponent_bits) {
  const std::uint64_t values[] = {
      taps.product.negative,       static_cast<std::uint64_t>(taps.product.exponent),
      taps.product.significand,    static_cast<std::uint64_t>(taps.align.shift),
      taps.align.subtract,         taps.align.larger,
      taps.align.aligned,          taps.sum,
      taps.normalised.negative,    static_cast<std::uint64_t>(taps.normalised.exponent),
      taps.normalised.significand, taps.rounded};
  const TapLayout layout = mac_tap_layout(config, exponent_bits);
  BitsPacker packer(tap_bits(layout));
  for (std::size_t i = 0; i < layout.size(); ++i) packer.put(layout[i].bits, values[i]);
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

#include "models/mac/fp8_mac.hpp"

namespace mantissa {

void mac_multiply(MacState& state, std::uint32_t a, std::uint32_t b, const MacConfig& config) {
  const Exact x = decode(a, config.a, state.flags);
  const Exact y = decode(b, config.b, state.flags);
  state.product = multiply(x, y, state.flags);
}

void mac_align(MacState& state, std::uint32_t acc, const MacConfig& config) {
  state.addend = decode(acc, config.acc, state.flags);
  if (state.plain()) state.alignment = align(state.addend, state.product, config.frame_bits());
}

void mac_add(MacState& state, const MacConfig& config) {
  state.sum = state.plain() ? normalise(state.alignment, frame_sum(state.alignment), config.frame_bits())
                            : add(state.addend, state.product, state.flags);
}

void mac_round(MacState& state, const MacConfig& config, std::uint32_t draw) {
  const Rounded result = round(state.sum, config.acc, config.rounding, draw, Overflow::ieee);
  state.code = result.code;
  state.flags |= result.flags;
}

MacTaps mac_taps(const MacState& state, const MacConfig& config) {
  MacTaps taps;
  if (state.product.is_finite()) {
    const int width = product_bits(config.a, config.b);
    taps.product = {state.product.negative, state.product.exponent,
                    state.product.significand >> (64 - width)};
  }
  if (state.plain()) {
    const Alignment& in = state.alignment;
    const int frame = config.frame_bits();
    taps.align = {in.shift, in.subtract, in.larger, in.aligned};
    taps.sum = frame_sum(in);
    // The normalised sum may carry one bit out of the frame: that bit joins the sticky.
    const std::uint64_t dropped = state.sum.significand << frame;
    taps.normalised = {state.sum.negative, state.sum.exponent,
                       (state.sum.significand >> (64 - frame)) | (dropped != 0 ? 1U : 0U)};
  }
  taps.rounded = state.code;
  return taps;
}

MacState mac_state(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                   std::uint32_t draw) {
  MacState state;
  mac_multiply(state, a, b, config);
  mac_align(state, acc, config);
  mac_add(state, config);
  mac_round(state, config, draw);
  return state;
}

Rounded fp8_mac(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                std::uint32_t draw, MacTaps* taps) {
  const MacState state = mac_state(a, b, acc, config, draw);
  if (taps != nullptr) *taps = mac_taps(state, config);
  return {state.code, state.flags};
}

}  // namespace mantissa

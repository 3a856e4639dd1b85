#include "models/mac/fp8_mac.hpp"

namespace mantissa {

Rounded accumulate(const Exact& product, std::uint32_t acc, const MacConfig& config, std::uint32_t draw,
                   MacTaps* taps) {
  Flags flags;
  const Exact addend = decode(acc, config.acc, flags);
  Exact sum;
  if (product.is_finite() && addend.is_finite()) {
    const int frame = config.frame_bits();
    AlignedSum inside;
    sum = add_aligned(addend, product, frame, &inside);
    if (taps != nullptr) {
      taps->align = {inside.shift, inside.subtract, inside.larger, inside.aligned};
      taps->sum = inside.sum;
      // The normalised sum may carry one bit out of the frame: that bit joins the sticky.
      const std::uint64_t dropped = sum.significand << frame;
      taps->normalised = {sum.negative, sum.exponent,
                          (sum.significand >> (64 - frame)) | (dropped != 0 ? 1U : 0U)};
    }
  } else {
    sum = add(addend, product, flags);
  }
  Rounded result = round(sum, config.acc, config.rounding, draw, Overflow::ieee);
  result.flags |= flags;
  if (taps != nullptr) taps->rounded = result.code;
  return result;
}

Rounded fp8_mac(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                std::uint32_t draw, MacTaps* taps) {
  Flags flags;
  const Exact x = decode(a, config.a, flags);
  const Exact y = decode(b, config.b, flags);
  const Exact product = multiply(x, y, flags);
  if (taps != nullptr) {
    *taps = {};
    if (product.is_finite()) {
      const int width = product_bits(config.a, config.b);
      taps->product = {product.negative, product.exponent,
                       static_cast<std::uint32_t>(product.significand >> (64 - width))};
    }
  }
  Rounded result = accumulate(product, acc, config, draw, taps);
  result.flags |= flags;
  return result;
}

}  // namespace mantissa

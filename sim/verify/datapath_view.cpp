#include "sim/verify/datapath_view.hpp"

#include "sim/dut/bits.hpp"

namespace mantissa::verify {

std::vector<std::string> datapath_view(const MacState& state, const MacConfig& config, bool with_product) {
  const MacTaps taps = mac_taps(state, config);
  const int frame = config.frame_bits();
  const auto hex = [](int bits, std::uint64_t value) { return Bits(bits, value).hex(); };
  std::vector<std::string> lines;
  if (with_product) {
    lines.push_back("golden product: " + std::string(taps.product.negative ? "-" : "+") +
                    hex(product_bits(config.a, config.b), taps.product.significand) + ", leading one at 2^" +
                    std::to_string(taps.product.exponent));
  }
  lines.push_back("golden align: " + std::string(taps.align.subtract ? "subtract " : "add ") +
                  hex(frame, taps.align.aligned) + " (shifted right by " + std::to_string(taps.align.shift) +
                  ") and " + hex(frame, taps.align.larger));
  lines.push_back("golden sum: " + hex(frame + 1, taps.sum));
  const int below = frame - config.acc.precision();  // bits of the frame below the last place
  const std::uint64_t rest = taps.normalised.significand & ((std::uint64_t{1} << below) - 1);
  lines.push_back("golden normalised: " + hex(frame, taps.normalised.significand) + ", leading one at 2^" +
                  std::to_string(taps.normalised.exponent) + ", guard " +
                  std::to_string(rest >> (below - 1) & 1) + " round " +
                  std::to_string(rest >> (below - 2) & 1) + " sticky " +
                  ((rest & ((std::uint64_t{1} << (below - 2)) - 1)) != 0 ? "1" : "0"));
  return lines;
}

}  // namespace mantissa::verify

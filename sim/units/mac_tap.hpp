// tap_o of the arithmetic units: the intermediate values of the MAC datapath in one packed value, the
// earliest stage highest (ARITHMETIC.md 12; rtl/fp_mac.sv).
#pragma once

#include <string>
#include <vector>

#include "models/mac/fp8_mac.hpp"
#include "sim/dut/bits.hpp"

namespace mantissa {

struct TapField {
  std::string stage;
  std::string name;
  int bits = 0;
};
using TapLayout = std::vector<TapField>;

// A unit's datapath, as far as tap_o depends on it.
struct MacDatapath {
  MacConfig config = {};
  int exponent_bits = 9;   // width of its signed exponents
  bool multiplies = true;  // false: an adder, which has no product to show
};
constexpr MacDatapath fp8_mac_datapath(const MacConfig& config) { return {.config = config}; }
constexpr MacDatapath fp32_fma_datapath = {.config = {.a = formats::fp32, .b = formats::fp32},
                                           .exponent_bits = 10};
// The adder of a MAC with an FP32 accumulator: a is the accumulator, b the product.
constexpr MacDatapath fp32_add_datapath = {.multiplies = false};
void fp32_add_align(MacState& state, std::uint32_t a, std::uint32_t b);

TapLayout mac_tap_layout(const MacDatapath& datapath);
int tap_bits(const TapLayout& layout);
Bits pack_mac_taps(const MacState& state, const MacDatapath& datapath);

// The first field in which two taps differ, -1 where there is none.
int first_difference(const TapLayout& layout, const Bits& expected, const Bits& actual);

}  // namespace mantissa

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

// `exponent_bits` is the width of the unit's signed exponents.
TapLayout mac_tap_layout(const MacConfig& config, int exponent_bits);
int tap_bits(const TapLayout& layout);
Bits pack_mac_taps(const MacTaps& taps, const MacConfig& config, int exponent_bits);

// The first field in which two taps differ, -1 where there is none.
int first_difference(const TapLayout& layout, const Bits& expected, const Bits& actual);

}  // namespace mantissa

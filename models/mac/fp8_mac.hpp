// fp8_mac: acc' = round(acc + a*b), one rounding, IEEE semantics, canonical NaN.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/format/round.hpp"
#include "models/mac/fp8_mul.hpp"

namespace mantissa {

struct MacConfig {
  Format a = formats::e5m2;
  Format b = formats::e5m2;
  Format acc = formats::fp32;
  Rounding rounding = Rounding::rne();

  // Width of the adder: the bits that a rounding can keep, or the product's if it has more, plus guard, round
  // and sticky. 27 for an FP32 accumulator with rne.
  constexpr int frame_bits() const {
    return std::max(acc.precision() + rounding.random_bits, product_bits(a, b)) + 3;
  }
};

// What stands on the wires between the stages of the datapath, in the order of the stages. Significands are
// left-justified: the leading one is the top bit of the stated width. Zero where a special value took a short
// cut.
struct MacTaps {
  struct Product {
    bool negative = false;
    int exponent = 0;               // of the leading one
    std::uint64_t significand = 0;  // product_bits wide, normalised
    friend bool operator==(const Product&, const Product&) = default;
  } product;
  struct Align {
    int shift = 0;  // exponent difference of the two addends
    bool subtract = false;
    std::uint64_t larger = 0;   // frame_bits wide
    std::uint64_t aligned = 0;  // frame_bits wide, bit 0 is sticky
    friend bool operator==(const Align&, const Align&) = default;
  } align;
  std::uint64_t sum = 0;  // frame_bits + 1 wide
  struct Normalised {
    bool negative = false;
    int exponent = 0;
    std::uint64_t significand = 0;  // frame_bits wide, leading one at the top, bit 0 is sticky
    friend bool operator==(const Normalised&, const Normalised&) = default;
  } normalised;
  std::uint32_t rounded = 0;  // the result's code
  friend bool operator==(const MacTaps&, const MacTaps&) = default;
};

// The datapath stage by stage: what a pipelined unit carries from one register to the next. Each function is
// one stage; mac_state is all of them in a row, and fp8_mac its result.
struct MacState {
  Exact product;
  Exact addend;
  Alignment alignment;  // set where both addends are finite and not zero
  Exact sum;
  Flags flags;
  std::uint32_t code = 0;

  bool plain() const { return product.is_finite() && addend.is_finite(); }
};
void mac_multiply(MacState& state, std::uint32_t a, std::uint32_t b, const MacConfig& config);
void mac_align(MacState& state, std::uint32_t acc, const MacConfig& config);
void mac_add(MacState& state, const MacConfig& config);  // and normalise
void mac_round(MacState& state, const MacConfig& config, std::uint32_t draw);
MacState mac_state(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                   std::uint32_t draw = 0);
MacTaps mac_taps(const MacState& state, const MacConfig& config);

Rounded fp8_mac(std::uint32_t a, std::uint32_t b, std::uint32_t acc, const MacConfig& config,
                std::uint32_t draw = 0, MacTaps* taps = nullptr);

}  // namespace mantissa

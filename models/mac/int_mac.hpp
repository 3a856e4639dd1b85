// int_mac: acc' = acc + a*b, unsigned, a of 8 bits, b of 8 or 16, acc of 48 or fewer (ARITHMETIC.md 4). The
// hardware wraps and sets a sticky flag; the model raises an error, for a sum that wrapped is no result.
#pragma once

#include <cstdint>

namespace mantissa {

constexpr int int_mac_acc_bits = 48;

// What the hardware gives: the sum modulo 2^acc_bits, and whether it lost a carry.
struct WrappedSum {
  std::uint64_t acc = 0;
  bool wrapped = false;
  friend bool operator==(const WrappedSum&, const WrappedSum&) = default;
};
// Throws std::invalid_argument for operands wider than their ports (b_bits is 8 or 16).
WrappedSum int_mac_wrapping(std::uint32_t a, std::uint32_t b, std::uint64_t acc, int b_bits = 8,
                            int acc_bits = int_mac_acc_bits);

// Throws std::invalid_argument unless a sum of acc_bits holds a product and has at most 48 bits.
void check_int_mac_sum(int product_bits, int acc_bits);

// Throws what int_mac_wrapping throws, and std::overflow_error where the sum needs more than 48 bits.
std::uint64_t int_mac(std::uint32_t a, std::uint32_t b, std::uint64_t acc, int b_bits = 8);

}  // namespace mantissa

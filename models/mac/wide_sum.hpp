// An exact fixed-point register for sums of FP32 values (Kulisch): no addition ever rounds.
#pragma once

#include <array>
#include <cstdint>

#include "models/format/exact.hpp"

namespace mantissa {

// Two's complement, bit 0 weighs 2^-149, 320 bits: FP32's whole range plus 42 bits of growth.
class WideSum {
 public:
  // Finite or zero, a multiple of 2^-149 below 2^128 in magnitude.
  void add(const Exact& value);
  Exact value() const;

 private:
  static constexpr int lowest_bit = -149;
  std::array<std::uint64_t, 5> limb_{};
};

}  // namespace mantissa

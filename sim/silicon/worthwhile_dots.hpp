// Operands whose dot products tell accumulators apart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa::silicon {

// What a dot product tries.
enum class Aim : std::uint8_t {
  ordinary,   // magnitudes around 1
  alignment,  // a large product, every second time cancelled, the others around the last bits that are kept
  cancellation,  // most of the sum cancels
  subnormals,    // operands, and a start value, far below the normal numbers
  overflow,      // sums near the largest numbers of narrow accumulators and beyond
};
constexpr int aims = 5;
std::string_view name_of(Aim aim);

struct WorthwhileDot {
  Aim aim = Aim::ordinary;
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  std::uint32_t start = 0;  // FP32 bits
};

// Number `index` of a seed, whatever the others are. All operands are finite; aims take turns.
WorthwhileDot worthwhile_dot(const Format& a_format, const Format& b_format, std::size_t k,
                             std::uint64_t seed, std::uint64_t index);

}  // namespace mantissa::silicon

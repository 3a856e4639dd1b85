// The name of a random stream: who draws, for which tensor, in which pass of which layer and step
// (ARITHMETIC.md 3).
#pragma once

#include <cstdint>

#include "models/mac/pass.hpp"

namespace mantissa {

enum class RandomUnit : std::uint8_t {
  drain_quantizer = 0,
  tensor_quantizer = 1,
  pruner = 2,
  accumulator = 3,
  double_sampler = 4,
  weight_update = 5,
  gemmlowp_quantizer = 6,
};
enum class Operand : std::uint8_t { a = 0, weight = 0, output = 0, b = 1, bias = 2 };

struct StreamId {
  std::uint32_t step = 0;
  std::uint16_t layer = 0;
  Pass pass = Pass::forward;
  RandomUnit unit = RandomUnit::drain_quantizer;
  Operand operand = Operand::a;

  constexpr std::uint64_t value() const {
    return (static_cast<std::uint64_t>(step) << 32) | (static_cast<std::uint64_t>(layer) << 16) |
           (static_cast<std::uint64_t>(pass) << 8) |
           (static_cast<std::uint64_t>(unit) + 16 * static_cast<std::uint64_t>(operand));
  }
};

}  // namespace mantissa

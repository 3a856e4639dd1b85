// x or g of a batch norm as it lies in memory: what the recipe keeps, or the 8-bit integers of Range BN's
// 8-bit mode (ARITHMETIC.md 8, "On the accelerator").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/arch/stored_tensor.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/operand.hpp"

namespace mantissa::replay {

// What a batch norm is given. The 8-bit mode quantizes by itself: it takes what GEMMLOWP has not quantized.
std::vector<float> norm_values(const Operand& operand, const NormRule& rule);

// Of an element in memory.
int norm_bits(const Operand& operand, const NormRule& rule);

class NormStream {
 public:
  // Keeps the operand. Rounding and draws are those of the 8-bit mode's quantizer.
  NormStream(const Operand& operand, const NormRule& rule, Rounding rounding, const DrawSource& draws);

  StoredTensor stored() const;

 private:
  const Operand& operand_;
  bool eight_bit_mode_;
  GemmlowpRange range_;
  std::vector<std::uint16_t> integers_;
};

}  // namespace mantissa::replay

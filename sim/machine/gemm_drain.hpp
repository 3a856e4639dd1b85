// The results' way out of the array: rows of C into the half of the buffer that their tile drains into
// (ARITHMETIC.md 7, "Tiles and drain").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/dequantizer.hpp"
#include "sim/machine/gemm_memory.hpp"

namespace mantissa {

// Keeps references.
class GemmDrain {
 public:
  // `dequantizer`: of an array of integers, or nullptr.
  GemmDrain(const MachineParts& parts, const GemmPlan& plan, GemmMemory& memory,
            const Dequantizer* dequantizer);

  bool may_take(std::int64_t cycle) const;
  // The row that the array shows. Throws std::overflow_error for a sum of integers that does not fit.
  void take_row();

  std::int64_t tiles() const { return tiles_; }
  std::uint64_t elements() const { return elements_; }
  std::uint64_t suppressed_tiles() const { return suppressed_tiles_; }
  const std::vector<std::uint8_t>& flags() const { return flags_; }  // [m, n]

 private:
  void take_codes(const GemmPlan::TilePlace& tile);
  void take_sums(const GemmPlan::TilePlace& tile);

  MachineParts parts_;
  const GemmPlan& plan_;
  GemmMemory& memory_;
  const Dequantizer* dequantizer_;
  std::int64_t tiles_ = 0;
  std::int64_t row_ = 0;  // of the tile that drains
  std::uint64_t elements_ = 0;
  std::uint64_t suppressed_tiles_ = 0;
  std::vector<std::uint8_t> flags_;
};

}  // namespace mantissa

// The tiles that drive mac_array: their beats one by one.
#pragma once

#include "sim/stimulus/vector_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/verify/reference.hpp"
#include "sim/verify/units/code_draw.hpp"
#include "sim/verify/units/tile_cut.hpp"

namespace mantissa::verify {

class TilePlan {
 public:
  // The input ports in the order of a beat.
  enum Input : std::uint8_t { a, b, count, used, skip, last, drain, bias, scale, load, seed };

  // Of any shape; the first few meet the ends of the accumulator's range.
  TilePlan(const MacArray& array, std::uint64_t number, stimulus::Dice& dice);
  // All elements in use and none skipped: one multiply-accumulate per element and cycle.
  static TilePlan dense(const MacArray& array, int k, stimulus::Dice& dice);

  bool finished() const { return cut_.finished(); }
  Transaction beat(stimulus::Dice& dice);

 private:
  Bits matrix(stimulus::Dice& dice, int slices, int elements, int in_use, const Format& format,
              std::uint64_t density, std::uint32_t only) const;
  Bits biases(stimulus::Dice& dice) const;
  Bits seeds(stimulus::Dice& dice) const;

  const MacArray& array_;
  TileCut cut_;
  CodeDraw codes_;
  bool load_;
  std::uint32_t only_a_ = 0;  // the magnitude of all elements; 0: any
  std::uint32_t only_b_ = 0;
};

}  // namespace mantissa::verify

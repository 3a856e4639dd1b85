// The tiles that drive block_array: runs of all shapes, beat by beat, and the sums that are loaded.
#pragma once

#include <optional>
#include <vector>

#include "models/array/block_array.hpp"
#include "sim/verify/reference.hpp"
#include "sim/verify/units/code_draw.hpp"
#include "sim/verify/units/tile_cut.hpp"

namespace mantissa::verify {

class BlockTilePlan {
 public:
  // The input ports in the order of a beat.
  enum Input : std::uint8_t { a, b, count, used, skip, last, cols, swap, load, sum };

  // Of any shape; the first few meet the ends of the accumulator's range.
  BlockTilePlan(const BlockArray& array, std::uint64_t number, stimulus::Dice& dice);
  // All elements in use and none skipped: one multiply-accumulate per element and cycle.
  static BlockTilePlan dense(const BlockArray& array, int k, stimulus::Dice& dice);

  bool finished() const { return cut_.finished() && pieces_ == 0; }
  // Without the sums.
  Transaction beat(stimulus::Dice& dice);

 private:
  void begin_run(stimulus::Dice& dice);
  Bits matrix(stimulus::Dice& dice, int elements, const Format& format, std::uint64_t density,
              std::uint32_t only) const;

  const BlockArray* array_;
  std::uint64_t number_;
  TileCut cut_;
  int pieces_;  // of the tile, after this one: each is a cut of its own
  CodeDraw codes_;
  bool in_run_ = false;
  Bits used_rows_;  // of the run
  Bits enabled_cols_;
  bool all_ = false;          // rows and columns
  std::uint32_t only_a_ = 0;  // the magnitude of all elements; 0: any
  std::uint32_t only_b_ = 0;
};

// Sums that an array has given, to be loaded into one: others need not be what an element can hold.
class SumPool {
 public:
  explicit SumPool(const BlockArray& array);
  void put(std::uint32_t sum, stimulus::Dice& dice);
  // load_i and sum_i.
  void offer(Transaction& inputs, stimulus::Dice& dice) const;

 private:
  BlockArray array_;
  std::vector<std::uint32_t> sums_;
};

}  // namespace mantissa::verify

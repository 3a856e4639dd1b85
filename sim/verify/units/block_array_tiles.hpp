// The tiles that drive the arrays with two sets of sums: runs of all shapes, beat by beat, and the sums that
// are loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/sparsity/skip_window.hpp"
#include "sim/verify/reference.hpp"
#include "sim/verify/units/tile_cut.hpp"

namespace mantissa::verify {

// Such an array, whatever its elements are.
struct ExchangeShape {
  SkipWindow skip_window;
  int cols = 0;
  int sum_rows = 1;
  int sum_bits = 0;
  int rows() const { return skip_window.rows; }
};

// How the elements of a tile are drawn.
class TileElements {
 public:
  TileElements() = default;
  TileElements(const TileElements&) = delete;
  TileElements& operator=(const TileElements&) = delete;
  virtual ~TileElements() = default;
  // So many of a beat; `density`: of non-zeros, in eighths.
  virtual Bits a(stimulus::Dice& dice, int count, std::uint64_t density) const = 0;
  virtual Bits b(stimulus::Dice& dice, int count) const = 0;
};

class BlockTilePlan {
 public:
  // The input ports in the order of a beat.
  enum Input : std::uint8_t { a, b, count, used, skip, last, cols, swap, load, sum };
  // Tiles of a run with these numbers are for the ends of the range of sums: nothing but elements of all the
  // array, many or, in the last one, a single one.
  static bool extreme(std::uint64_t number) { return number >= 1 && number <= 3; }
  static bool shortest(std::uint64_t number) { return number == 3; }

  BlockTilePlan(const ExchangeShape& array, std::uint64_t number, stimulus::Dice& dice,
                std::unique_ptr<TileElements> elements);
  // All elements in use and none skipped: one multiply-accumulate per element and cycle.
  static BlockTilePlan dense(const ExchangeShape& array, int k, stimulus::Dice& dice,
                             std::unique_ptr<TileElements> elements);

  bool finished() const { return cut_.finished() && pieces_ == 0; }
  // Without the sums.
  Transaction beat(stimulus::Dice& dice);

 private:
  void begin_run(stimulus::Dice& dice);

  ExchangeShape array_;
  std::uint64_t number_;
  TileCut cut_;
  int pieces_;  // of the tile, after this one: each is a cut of its own
  std::unique_ptr<TileElements> elements_;
  bool in_run_ = false;
  Bits used_rows_;  // of the run
  Bits enabled_cols_;
  bool all_ = false;  // rows and columns
};

// Sums that an array has given, to be loaded into one: others need not be what an element can hold.
class SumPool {
 public:
  // The corners stay.
  SumPool(int bits, const std::vector<std::uint64_t>& corners);
  void put(std::uint64_t sum, stimulus::Dice& dice);
  // load_i and sum_i.
  void offer(Transaction& inputs, stimulus::Dice& dice) const;

 private:
  int bits_;
  std::uint64_t corners_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace mantissa::verify

#include "sim/verify/units/block_array_tiles.hpp"

#include <algorithm>
#include <utility>

#include "sim/units/skip_window.hpp"

namespace mantissa::verify {
namespace {

constexpr int pool_size = 64;

Bits all_ones(int width) {
  Bits bits(width);
  for (int i = 0; i < width; ++i) bits.set_field(i, 1, 1);
  return bits;
}

// A fifth of them any, others the first ones; of columns, some that stand side by side.
Bits mask(stimulus::Dice& dice, int width, int in_use) {
  Bits bits(width);
  const std::uint64_t kind = dice.below(5);
  const int first = kind == 1 ? dice.between(0, width - in_use) : 0;
  for (int i = 0; i < width; ++i)
    bits.set_field(i, 1, kind == 0 ? dice.bits(1) : i >= first && i < first + in_use ? 1 : 0);
  return bits;
}

}  // namespace

BlockTilePlan::BlockTilePlan(const ExchangeShape& array, std::uint64_t number, stimulus::Dice& dice,
                             std::unique_ptr<TileElements> elements)
    : array_(array),
      number_(number),
      cut_(array.skip_window, array.cols, number, dice),
      pieces_(dice.below(3) == 0 ? dice.between(1, 2) : 0),
      elements_(std::move(elements)) {
  if (!extreme(number)) return;
  pieces_ = 0;
  all_ = true;
  const SkipWindow& window = array.skip_window;
  cut_.fill(shortest(number) ? 1 : window.window * (number == 2 ? window.depth + 2 : 1));
}

BlockTilePlan BlockTilePlan::dense(const ExchangeShape& array, int k, stimulus::Dice& dice,
                                   std::unique_ptr<TileElements> elements) {
  BlockTilePlan plan(array, 0, dice, std::move(elements));
  plan.cut_.fill(k);
  plan.cut_.skip = false;
  plan.cut_.density = 8;
  plan.pieces_ = 0;
  plan.all_ = true;
  return plan;
}

void BlockTilePlan::begin_run(stimulus::Dice& dice) {
  if (cut_.finished()) {
    cut_ = TileCut(array_.skip_window, array_.cols, number_, dice);
    --pieces_;
  }
  used_rows_ = all_ ? all_ones(array_.rows()) : mask(dice, array_.rows(), cut_.rows);
  enabled_cols_ = all_ ? all_ones(array_.cols) : mask(dice, array_.cols, cut_.cols);
}

Transaction BlockTilePlan::beat(stimulus::Dice& dice) {
  if (!in_run_) begin_run(dice);
  const TileCut::Beat cut = cut_.next();
  in_run_ = !cut.ends_step;
  const bool swaps = cut.ends_tile && pieces_ == 0;
  const int port = array_.skip_window.port;
  // What rows and columns that take no part have does not count; swap_i counts in the last beat of a run.
  return {elements_->a(dice, port * array_.rows(), cut_.density),
          elements_->b(dice, port * array_.cols),
          Bits(slice_count_bits(array_.skip_window), cut.slices),
          used_rows_,
          Bits(1, cut_.skip ? 1 : 0),
          Bits(1, cut.ends_step ? 1 : 0),
          enabled_cols_,
          Bits(1, cut.ends_step ? (swaps ? 1 : 0) : dice.bits(1)),
          Bits(1),
          Bits(array_.sum_rows * array_.cols * array_.sum_bits)};
}

SumPool::SumPool(int bits, const std::vector<std::uint64_t>& corners)
    : bits_(bits), corners_(corners.size()), sums_(pool_size, 0) {
  std::copy(corners.begin(), corners.end(), sums_.begin());
}

// Of the corners there are enough, and old sums stay for a while.
void SumPool::put(std::uint64_t sum, stimulus::Dice& dice) {
  if (dice.below(4) == 0) sums_[corners_ + dice.below(pool_size - corners_)] = sum;
}

void SumPool::offer(Transaction& inputs, stimulus::Dice& dice) const {
  inputs[BlockTilePlan::load] = Bits(1, dice.below(4) == 0 ? 0 : 1);
  Bits& sums = inputs[BlockTilePlan::sum];
  for (int low = 0; low < sums.width(); low += bits_)
    sums.set_field(low, bits_, sums_[dice.below(pool_size)]);
}

}  // namespace mantissa::verify
